/** What a process of visitors is sent out with, and what it reports. */

export type Orders = {
  urls: string[];
  publicId: string;
  calendars: string[];
  starts: string[];
  attempts: number;
  atOnce: number;
  /** Share of the attempts at the service with a price. */
  paidShare: number;
};
export type Told = {
  name: string;
  service: string;
  status: number;
  code: string;
  id: string;
  start: string;
  calendar: string;
  /** How often the payment page took the money. */
  pays: number;
};
/** What the process reports: how many are done, or what all were told. */
export type Report = { done: number; told?: Told[] };

/** The address of a visitor, which no other has. */
export const addressOf = (name: string) => `${name.slice(2)}@example.org`;
