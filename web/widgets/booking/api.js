/**
 * The platform's booking API for visitors.
 * @typedef {{ amount: number, currency: string }} Money
 * @typedef {Money & { per: 'seat' | 'booking' }} Price
 * @typedef {{ name: string, label: string, kind: string, required: boolean, options?: string[], max_length?: number }} IntakeField
 * @typedef {{ key: string, name: string, open: boolean, duration_minutes: number, calendar_keys: string[], horizon_days: number, seats_max: number, place: string | null, has_link: boolean, intake: IntakeField[], price: Price | null }} Service
 * @typedef {{ key: string, name: string, time_zone: string, place: string | null, has_link: boolean }} Calendar
 * @typedef {{ services: Service[], calendars: Calendar[], notices: boolean }} Offer
 * @typedef {{ date: string, open_slots: number }} Day
 * @typedef {{ start: string, seats_left: number }} Slot
 * @typedef {{ status: string, reference: string, calendar: string, start: string, mail: string | null, place: string | null, link: string | null, price: Money | null, pay_url?: string | null, hold_expires_at?: string }} Booking
 */

const origin = new URL(import.meta.url).origin;

/** An error response, or no response. `code` is the API's error code, empty if the platform could not be reached. */
export class RequestFailed extends Error {
  constructor({ code = '', message = '' } = {}) {
    super(message);
    this.code = code;
  }
}

/**
 * The parsed response body. Throws `RequestFailed`.
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<any>}
 */
export async function request(path, init) {
  const response = await fetch(`${origin}${path}`, init).catch(() => undefined);
  const body = await response?.json().catch(() => undefined);
  if (response?.ok && body) return body;
  throw new RequestFailed(body?.error);
}

/** An idempotency key. Pages without TLS have no `randomUUID`. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
