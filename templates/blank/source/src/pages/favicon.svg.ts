import type { APIRoute } from 'astro';

export const GET: APIRoute = () =>
  new Response(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>circle{fill:#1c1b19}@media(prefers-color-scheme:dark){circle{fill:#f2f0ec}}</style><circle cx="16" cy="16" r="9"/></svg>`,
    { headers: { 'content-type': 'image/svg+xml' } },
  );
