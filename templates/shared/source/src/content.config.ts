import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
import { z } from 'astro/zod';

/** Posts live in the content repository, which is mounted at src/content/ when the site is built. */
const posts = defineCollection({
  loader: glob({ base: './src/content/posts', pattern: '**/*.{md,mdx}' }),
  schema: ({ image }) =>
    z.object({
      title: z.string(),
      description: z.string(),
      date: z.coerce.date(),
      cover: image().optional(),
      coverAlt: z.string().default(''),
      author: z.string().optional(),
      tags: z.array(z.string()).default([]),
    }),
});

export const collections = { posts };
