import mdx from '@astrojs/mdx';
import sitemap from '@astrojs/sitemap';
import { defineConfig } from 'astro/config';

// The platform sets `site` to the address that the pages are published at.
export default defineConfig({
  integrations: [mdx(), sitemap()],
});
