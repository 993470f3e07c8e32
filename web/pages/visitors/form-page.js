/** Shows the challenge on a form's page: our own widget with its worker, or the element of a hosted challenge. */
const place = document.getElementById('challenge');
if (place) {
  const { script = '', worker = '', challenge = '', elementClass, siteKey } = place.dataset;
  if (elementClass) showHosted(place, { script, elementClass, siteKey });
  else void showOwn(place, { script, worker, challenge });
}

/**
 * @param {HTMLElement} place
 * @param {{ script: string, elementClass: string, siteKey: string | undefined }} options
 */
function showHosted(place, { script, elementClass, siteKey }) {
  const element = document.createElement('div');
  element.className = elementClass;
  element.dataset.sitekey = siteKey;
  const loader = document.createElement('script');
  loader.src = script;
  loader.async = true;
  place.replaceChildren(element, loader);
}

/**
 * @param {HTMLElement} place
 * @param {{ script: string, worker: string, challenge: string }} options
 */
async function showOwn(place, { script, worker, challenge }) {
  await import(script);
  globalThis.$altcha.algorithms.set('PBKDF2/SHA-256', () => new Worker(worker));
  const widget = document.createElement('altcha-widget');
  widget.setAttribute('challenge', challenge);
  widget.setAttribute('auto', 'onload');
  widget.setAttribute(
    'configuration',
    JSON.stringify({ humanInteractionSignature: false, hideFooter: true, minDuration: 0, timeout: 180000 }),
  );
  place.replaceChildren(widget);
}

export {};
