/** Opened by the overlay's frame: sends it the review key, only to our own origin, and closes. */
const { secret } = document.querySelector('main')?.dataset ?? {};
if (secret && opener) {
  opener.postMessage({ frontageReview: secret }, location.origin);
  close();
}

export {};
