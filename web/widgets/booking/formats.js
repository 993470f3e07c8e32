/** Prices, dates and languages as the visitor reads them. */

/**
 * The page's language in the visitor's own variant, if the language is the same: English pages are read in London and in New York.
 * @param {HTMLElement} element
 */
export function localeOf(element) {
  const preferred = navigator.language || 'en';
  const lang = /** @type {HTMLElement | null} */ (element.closest('[lang]'))?.lang;
  const written = element.getAttribute('locale') || lang || preferred;
  return preferred.startsWith(`${written}-`) ? preferred : written;
}

/** Currencies without a minor unit, and those with three decimal places. Browsers show some of the others without one. */
const noDecimals = /^(BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF)$/;
const threeDecimals = /^(BHD|JOD|KWD|OMR|TND)$/;

/**
 * @param {import('./api.js').Money} price
 * @param {string} locale
 */
export function money({ amount, currency }, locale) {
  const places = noDecimals.test(currency) ? 0 : threeDecimals.test(currency) ? 3 : 2;
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
  return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(amount / 10 ** places);
}

/**
 * 0 is Sunday. Not every browser knows it.
 * @param {string} locale
 */
export function firstDayOfWeek(locale) {
  try {
    const known = new Intl.Locale(locale);
    return ((known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? 0) % 7;
  } catch {
    return 1;
  }
}

/**
 * The date of a moment in UTC, as `2026-12-31`.
 * @param {number} moment
 */
export const isoDate = (moment) => new Date(moment).toISOString().slice(0, 10);
