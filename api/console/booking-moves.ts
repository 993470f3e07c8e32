/** The moves of a booking: those by the site’s people are in the history, and the visitor’s newest is in the row. */
import type { Person } from '#api/access.ts';
import { Account } from '#db/accounts/account.ts';
import type { Booking } from '#db/bookings/booking.ts';
import { HistoryEntry } from '#db/history/history-entry.ts';
import type { EntityManager } from '#db/orm.ts';
import type { MoveShown } from '#web/console/booking.ts';

/** Oldest first. */
export async function movesOf(
  em: EntityManager,
  { accountId }: Pick<Person, 'accountId'>,
  { id, site, createdAt, moves, movedAt, movedById }: Booking,
): Promise<MoveShown[]> {
  if (moves === 0) return [];
  const ofBooking = { siteId: site.id, at: { $gte: createdAt }, action: 'booking.moved', subjectId: id } as const;
  const acts = await em.find(HistoryEntry, ofBooking, { orderBy: { at: 'asc' } });
  const people = await em.find(Account, { id: { $in: acts.map(({ actorId }) => actorId) } }, { fields: ['name'] });
  const names = new Map(people.map((person) => [person.id, person.name]));
  const byPeople = acts.map(({ at, actorId, viaName, detail: { from } }) => ({
    at,
    by: actorId === accountId ? (viaName ?? 'you') : (names.get(actorId) ?? 'another account'),
    from: typeof from === 'string' ? new Date(from) : null,
  }));
  return movedAt && !movedById ? [...byPeople, { at: movedAt, by: 'the visitor', from: null }] : byPeople;
}
