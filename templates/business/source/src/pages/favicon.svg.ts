import type { APIRoute } from 'astro';

export const GET: APIRoute = () =>
  new Response(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f4c3a"/><path d="M0 4h14v4l10-3v10l-10-3v8l10-3v10l-10-3v4H0z" fill="#e9b44c"/></svg>`,
    { headers: { 'content-type': 'image/svg+xml' } },
  );
