/** Amounts in the minor unit of ISO 4217, and as the provider expects them. Pure. */

/** The currencies in which payments can be made, in the order of the alphabet. */
const taken =
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK DJF DKK DOP DZD ' +
  'EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD ' +
  'MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE ' +
  'SOS SRD SZL THB TJS TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VND VUV WST XAF XCD XOF XPF YER ZAR ZMW';
const currencies = new Set(taken.split(' '));

/** Digits after the point, where they are not two (ISO 4217, table A.1). */
const digits: Record<string, number> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((name) => [name, 0]),
  ),
  ...Object.fromEntries('BHD JOD KWD OMR TND'.split(' ').map((name) => [name, 3])),
};

/** Without a minor unit, but the provider counts them in hundredths. */
const inHundredths = new Set(['ISK', 'UGX']);

/**
 * The smallest charge to a card, in the minor unit; for other currencies the provider decides when the session is
 * created.
 */
const least: Record<string, number> = {
  USD: 50,
  AED: 200,
  AUD: 50,
  BRL: 50,
  CAD: 50,
  CHF: 50,
  CZK: 1500,
  DKK: 250,
  EUR: 50,
  GBP: 30,
  HKD: 400,
  HUF: 17_500,
  INR: 50,
  JPY: 50,
  MXN: 1000,
  MYR: 200,
  NOK: 300,
  NZD: 50,
  PLN: 200,
  RON: 200,
  SEK: 300,
  SGD: 50,
  THB: 1000,
};
/** The provider accepts eight digits. */
const mostAtProvider = 99_999_999;

function isCurrency(currency: string): boolean {
  return currencies.has(currency);
}

/** The fault of the amount, as text for the caller; undefined if it can be charged. */
export function amountFault({ amount, currency }: { amount: number; currency: string }): string | undefined {
  if (!isCurrency(currency))
    return 'Payments cannot be made in that currency. Use an ISO 4217 code in capitals, such as EUR.';
  const min = least[currency] ?? 1;
  const max = Math.floor(mostAtProvider / factorOf(currency));
  if (amount < min || amount > max) {
    return `A payment in ${currency} must be at least ${written({ amount: min, currency })} and at most ${written({ amount: max, currency })}.`;
  }
  if (!Number.isInteger(amount)) return `Amounts in ${currency} are whole numbers of its minor unit.`;
  return partFault({ amount, currency });
}

/** The fault of a part of an amount that was charged; undefined if it can be refunded. */
export function partFault({ amount, currency }: { amount: number; currency: string }): string | undefined {
  if (digits[currency] !== 3 || amount % 10 === 0) return undefined;
  return `Cards are charged in ${currency} with two decimal places, so the amount must be a multiple of 10.`;
}

/** The amount as people write it, such as `€1,250.00`, `¥1,250` or `KWD 1.250`. */
export function written({ amount, currency }: { amount: number; currency: string }): string {
  const places = digits[currency] ?? 2;
  const format = { style: 'currency', currency, minimumFractionDigits: places, maximumFractionDigits: places } as const;
  return new Intl.NumberFormat('en', format).format(amount / 10 ** places);
}

/** The amount as a field of a form has it, such as `1250.00`. */
export function typedAmount({ amount, currency }: { amount: number; currency: string }): string {
  const places = digits[currency] ?? 2;
  return (amount / 10 ** places).toFixed(places);
}

/**
 * The amount that a person typed, such as `1,250.50`, `1250,5` or `€ 12`; undefined if it has another form. Three digits
 * after a comma are a group, as in the amounts that we show; after a point too, unless the currency has three decimals.
 */
export function amountFrom(typed: string, currency: string): number | undefined {
  const places = digits[currency] ?? 2;
  const text = typed.replace(/[\s']|\p{Sc}|^[A-Z]{3}|[A-Z]{3}$/gu, '');
  const grouped =
    /^\d{1,3}(?:,\d{3})+(?:\.(\d*))?$/.exec(text) ??
    (places === 3 ? null : /^\d{1,3}(?:\.\d{3})+(?:,(\d*))?$/.exec(text));
  const [, fraction = ''] = grouped ?? /^\d{1,9}(?:[.,](\d*))?$/.exec(text) ?? [];
  const isAmount = grouped !== null || /^\d{1,9}(?:[.,]\d*)?$/.test(text);
  if (!isAmount || fraction.length > places) return undefined;
  const whole = text.slice(0, text.length - fraction.length).replace(/[.,]/g, '');
  return Number(`${whole}${fraction.padEnd(places, '0')}`);
}

/** The amount in the unit in which the provider counts the currency. */
export function toProvider({ amount, currency }: { amount: number; currency: string }): number {
  return amount * factorOf(currency);
}

/** The amount in the minor unit, from one that the provider has counted. */
export function fromProvider({ amount, currency }: { amount: number; currency: string }): number {
  return amount / factorOf(currency);
}

const factorOf = (currency: string) => (inHundredths.has(currency) ? 100 : 1);
