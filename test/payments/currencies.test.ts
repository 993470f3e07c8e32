/** Amounts that a card can be charged, in the minor unit of each currency. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountFault, amountFrom, fromProvider, toProvider, typedAmount, written } from '#rules/currencies.ts';

// It is checked against the types of browsers, which are not known here.
const formats: string = '#web/widgets/booking/formats.js';
const { money } = (await import(formats)) as { money: (price: object, locale: string) => string };

/** As the provider publishes it; the other currencies have no minimum there. */
const least: [string, number][] = [
  ...[...'USD AUD BRL CAD CHF EUR INR JPY NZD SGD'.split(' ').map((name): [string, number] => [name, 50])],
  ...Object.entries({ AED: 200, CZK: 1500, DKK: 250, GBP: 30, HKD: 400, HUF: 17_500, MXN: 1000, MYR: 200 }),
  ...Object.entries({ NOK: 300, PLN: 200, RON: 200, SEK: 300, THB: 1000, XOF: 1, TRY: 1 }),
];

test.each(least)('the smallest charge in %s is %i', (currency, amount) => {
  expect(amountFault({ amount, currency })).toBeUndefined();
  expect(amountFault({ amount: amount - 1, currency })).toContain(`at least ${written({ amount, currency })}`);
});

test.each([
  ['EUR', 99_999_999],
  ['ISK', 999_999],
])('the largest charge in %s is %i', (currency, amount) => {
  expect(amountFault({ amount, currency })).toBeUndefined();
  expect(amountFault({ amount: amount + 1, currency })).toContain(`at most ${written({ amount, currency })}`);
});

test('an amount with three decimal places is a multiple of ten', () => {
  expect(amountFault({ amount: 5000, currency: 'KWD' })).toBeUndefined();
  expect(amountFault({ amount: 5001, currency: 'KWD' })).toContain('a multiple of 10');
  expect(amountFault({ amount: 5001, currency: 'EUR' })).toBeUndefined();
});

test('an amount is written as people write it', () => {
  const amounts = (amount: number, ...currencies: string[]) =>
    currencies.map((currency) => written({ amount, currency }).replace('\u00a0', ' '));
  expect(amounts(125_000, 'EUR', 'USD', 'JPY', 'KWD', 'ISK', 'RSD')).toEqual([
    '€1,250.00',
    '$1,250.00',
    '¥125,000',
    'KWD 125.000',
    'ISK 125,000',
    'RSD 1,250.00',
  ]);
});

/** ISO 4217, table A.1, for what cards can be charged in. */
const decimals = (currency: string): number => {
  if (/^(BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF)$/.test(currency)) return 0;
  return /^(BHD|JOD|KWD|OMR|TND)$/.test(currency) ? 3 : 2;
};
const chargeable = Intl.supportedValuesOf('currency').filter((currency) => {
  return amountFault({ amount: 20_000, currency }) === undefined;
});

test('every amount of every currency reads as Intl writes its exact decimal', () => {
  expect(chargeable.length).toBeGreaterThan(100);
  const amount = fc.integer({ min: 0, max: 99_999_999 });
  fc.assert(
    fc.property(fc.constantFrom(...chargeable), amount, fc.constantFrom('en', 'de', 'fr'), (currency, n, locale) => {
      const places = decimals(currency);
      const text = String(n).padStart(places + 1, '0');
      const exact =
        `${text.slice(0, text.length - places)}.${text.slice(text.length - places)}` as Intl.StringNumericLiteral;
      const options = {
        style: 'currency',
        currency,
        minimumFractionDigits: places,
        maximumFractionDigits: places,
      } as const;
      const format = (language: string) => new Intl.NumberFormat(language, options).format(exact);
      expect(written({ amount: n, currency })).toBe(format('en'));
      expect(money({ amount: n, currency }, locale)).toBe(format(locale));
      expect(fromProvider({ amount: toProvider({ amount: n, currency }), currency })).toBe(n);
    }),
    { numRuns: 2_000 },
  );
});

test('the provider counts krónur and shillings in hundredths', () => {
  const asked = ['EUR', 'JPY', 'KWD', 'ISK', 'UGX'].map((currency) => toProvider({ amount: 1250, currency }));
  expect(asked).toEqual([1250, 1250, 1250, 125_000, 125_000]);
});

test.each([
  ['25', 'EUR', 2500],
  ['1,250', 'EUR', 125_000],
  ['1.250,00', 'EUR', 125_000],
  ['1,250.5', 'EUR', 125_050],
  ['1250,5', 'EUR', 125_050],
  ['€ 12', 'EUR', 1200],
  ['12 EUR', 'EUR', 1200],
  ['1.250.000', 'EUR', 125_000_000],
  ['1,250', 'JPY', 1250],
  ['1.250', 'KWD', 1250],
  ['1,250', 'KWD', 1_250_000],
  ['12.5', 'JPY', undefined],
  ['12.345', 'USD', 1_234_500],
  ['12.3456', 'USD', undefined],
  ['-5', 'EUR', undefined],
  ['a lot', 'EUR', undefined],
  ['', 'EUR', undefined],
])('the typed amount %s in %s is read as %s', (typed, currency, amount) => {
  expect(amountFrom(typed, currency)).toBe(amount);
  if (amount !== undefined) expect(amountFrom(typedAmount({ amount, currency }), currency)).toBe(amount);
});
