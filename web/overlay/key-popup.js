/** Opened by the overlay's frame: sends it the review key, only to our own origin, and closes. Null where there is none. */
const { secret = null } = document.querySelector('main')?.dataset ?? {};
opener?.postMessage({ frontageReview: secret }, location.origin);
if (secret && opener) close();

export {};
