/** The review key, stored in this frame's own storage. */

/** @param {string} site */
const storageName = (site) => `frontage-review:${site}`;
/**
 * For browsers that give frames no storage but allow a partitioned cookie. Only this script reads it.
 * @param {string} site
 */
const cookieName = (site) => `__Host-frontage_frame_${site}`;
const monthSeconds = 2_592_000;

/** @param {string} site */
export function readKey(site) {
  try {
    const [, inCookie] = new RegExp(`(?:^|; )${cookieName(site)}=(frr_[\\w-]{43})`).exec(document.cookie) ?? [];
    return inCookie ?? localStorage.getItem(storageName(site));
  } catch {
    return null;
  }
}

/**
 * @param {string} site
 * @param {string | null} key Null removes it.
 */
export function storeKey(site, key) {
  try {
    const age = key ? monthSeconds : 0;
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API.
    document.cookie = `${cookieName(site)}=${key ?? ''}; Path=/; Secure; SameSite=None; Partitioned; Max-Age=${age}`;
    if (key) localStorage.setItem(storageName(site), key);
    else localStorage.removeItem(storageName(site));
  } catch {}
}
