import type { APIRoute } from 'astro';

export const GET: APIRoute = () =>
  new Response(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2b3fd6"/><circle cx="21" cy="11" r="4.5" fill="#ff7a59"/><path d="M4 21q4-5 8 0t8 0 8 0v7H4z" fill="#dfe3ff"/></svg>`,
    { headers: { 'content-type': 'image/svg+xml' } },
  );
