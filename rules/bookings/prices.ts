/** What bookings cost. Pure. */

export type Money = { amount: number; currency: string };
/** In the currency's minor unit, of a seat or of a whole booking. */
export type Price = Money & { per: 'seat' | 'booking' };

/** What a booking of so many seats costs. */
export function totalOf({ amount, currency, per }: Price, seats: number): Money {
  return { amount: per === 'seat' ? amount * seats : amount, currency };
}
