// The challenge of a form's page: ours is a widget with its worker, another's its own script and an element for it.
(() => {
  const place = document.getElementById('challenge');
  if (!place) return;
  const { script, worker, challenge, elementClass, siteKey } = place.dataset;
  if (elementClass) {
    const element = document.createElement('div');
    element.className = elementClass;
    element.dataset.sitekey = siteKey;
    const loader = document.createElement('script');
    loader.src = script;
    loader.async = true;
    place.replaceChildren(element, loader);
    return;
  }
  void import(script).then(() => {
    globalThis.$altcha.algorithms.set('PBKDF2/SHA-256', () => new Worker(worker));
    const widget = document.createElement('altcha-widget');
    widget.setAttribute('challenge', challenge);
    widget.setAttribute('auto', 'onload');
    widget.setAttribute(
      'configuration',
      JSON.stringify({ humanInteractionSignature: false, hideFooter: true, minDuration: 0, timeout: 180000 }),
    );
    place.replaceChildren(widget);
  });
})();
