import rss from '@astrojs/rss';
import type { APIRoute } from 'astro';
import { listPosts } from '../posts';
import site from '../site.json';

export const GET: APIRoute = async (context) =>
  rss({
    title: site.title,
    description: site.description,
    site: context.site ?? 'http://localhost',
    items: (await listPosts()).map((post) => ({
      title: post.data.title,
      description: post.data.description,
      pubDate: post.data.date,
      link: `/posts/${post.id}/`,
    })),
  });
