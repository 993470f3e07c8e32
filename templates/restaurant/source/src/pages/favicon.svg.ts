import type { APIRoute } from 'astro';

export const GET: APIRoute = () =>
  new Response(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="16" fill="#3b1230"/><circle cx="16" cy="16" r="9.5" fill="none" stroke="#fdf3ec" stroke-width="2.5"/><circle cx="16" cy="16" r="4" fill="#e4572e"/></svg>`,
    { headers: { 'content-type': 'image/svg+xml' } },
  );
