import { type CollectionEntry, getCollection } from 'astro:content';
import { site } from './facts';

export type Post = CollectionEntry<'posts'>;

/** All posts, newest first. Drafts never get here: the platform leaves them out of the build. */
export async function listPosts(): Promise<Post[]> {
  const posts = await getCollection('posts');
  return posts.sort((a, b) => b.data.date.valueOf() - a.data.date.valueOf());
}

export function formatDate(date: Date): string {
  return date.toLocaleDateString(site.language === 'en' ? 'en-GB' : site.language, { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** Whole minutes at 220 words each, at least one. */
export function minutesToRead(post: Post): number {
  return Math.max(1, Math.round((post.body ?? '').split(/\s+/).length / 220));
}

/** The posts below each of their names, for example of their tags. */
export function groupBy(posts: Post[], namesOf: (post: Post) => string[]): Map<string, Post[]> {
  const groups = new Map<string, Post[]>();
  for (const post of posts) for (const name of namesOf(post)) groups.set(name, [...(groups.get(name) ?? []), post]);
  return groups;
}

export const authorOf = (post: Post): string | undefined => post.data.author ?? site.author;

/** The last part of an address. */
export const partOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
export const addressOf = (kind: 'tags' | 'authors', name: string): string => `/${kind}/${partOf(name)}/`;
