import rss from '@astrojs/rss';
import type { APIRoute } from 'astro';
import { listPosts } from '../posts';
import { isGiven, site } from '../facts';

export const GET: APIRoute = async (context) =>
  rss({
    title: site.title,
    description: isGiven(site.description) ? site.description : site.title,
    customData: `<language>${site.language}</language>`,
    site: context.site ?? 'http://localhost',
    items: (await listPosts()).slice(0, 50).map((post) => ({
      title: post.data.title,
      description: post.data.description,
      pubDate: post.data.date,
      link: `/posts/${post.id}/`,
      categories: post.data.tags,
    })),
  });
