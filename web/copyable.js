/** Copy buttons: each `.copyable` has a code and a button, which stays hidden without this script. */
for (const box of document.querySelectorAll('.copyable')) {
  const [code, button] = [box.querySelector('code'), box.querySelector('button')];
  if (!code || !button || !navigator.clipboard) continue;
  const name = button.ariaLabel;
  /** @param {string} textContent @param {string | null} ariaLabel */
  const show = (textContent, ariaLabel) => void Object.assign(button, { textContent, ariaLabel });
  box.classList.add('ready');
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(code.textContent ?? '').then(() => show('Copied', 'Copied'));
    setTimeout(() => show('Copy', name), 2_000);
  });
}
