import type { APIRoute } from 'astro';

export const GET: APIRoute = () =>
  new Response(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="#111"/><path d="M8 8h16v5H13v3h8v5h-8v5H8z" fill="#ff7a45"/></svg>`,
    { headers: { 'content-type': 'image/svg+xml' } },
  );
