/** Amounts that a card can be charged, in the minor unit of each currency. */
import { expect, test } from 'vitest';
import { amountFault, toProvider, written } from '#rules/currencies.ts';

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

test('an amount has its currency’s decimal places', () => {
  const amounts = ['EUR', 'JPY', 'KWD', 'ISK'].map((currency) => written({ amount: 1250, currency }));
  expect(amounts).toEqual(['12.50 EUR', '1250 JPY', '1.250 KWD', '1250 ISK']);
  expect(['EUR', 'ISK'].map((currency) => toProvider({ amount: 1250, currency }))).toEqual([1250, 125_000]);
});
