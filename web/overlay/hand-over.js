// Opened by the overlay's frame: hands it the review's key, and closes. To no other origin than our own.
(() => {
  const { secret } = document.querySelector('main').dataset;
  if (!secret || !opener) return;
  opener.postMessage({ frontageReview: secret }, location.origin);
  close();
})();
