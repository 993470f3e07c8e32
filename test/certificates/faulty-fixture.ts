/** A fixture whose authority refuses and fails on demand, and whose clock can be advanced. */
import { type Seen, startTestAuthority } from './authority.ts';
import { lookFor } from './eyes.ts';
import { createFixture } from './fixture.ts';

export type FaultyFixture = Awaited<ReturnType<typeof createFaultyFixture>>;

export async function createFaultyFixture() {
  let aheadMs = 0;
  let count = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const skip = (ms: number) => {
    aheadMs += ms;
  };
  const faulty = {
    /** What the authority says of each name that it looks at; undefined where it says what it sees. */
    problem: undefined as string | undefined,
  };
  const validate = async (seen: Seen) => faulty.problem ?? (await lookFor(fixture, seen));
  const authority = await startTestAuthority({ clock, validate });
  const fixture = await createFixture({ clock, authority });
  await fixture.openTlsEdge();
  const newName = () => `d${++count}.failing.test`;

  async function newDomain(mode: 'nameservers' | 'cname' = 'cname', address = '127.0.0.1') {
    const name = newName();
    await fixture.pointHere(name, address);
    return {
      name,
      id: await fixture.addDomain(name, { mode }),
      orders: () => authority.orders.filter(({ names }) => names.includes(name)),
    };
  }

  /** Calls again at each time that was answered, until a certificate stands. */
  async function untilActive(id: string, tries = 6): Promise<number> {
    for (let n = 1; n <= tries; n++) {
      const { status, renewAt } = await fixture.renew(id);
      if (status === 'active') return n;
      skip(Math.max(0, Date.parse(renewAt) - clock.now().getTime()));
    }
    throw new Error('no certificate came of it');
  }

  return Object.assign(faulty, { fixture, authority, clock, skip, newName, newDomain, untilActive });
}
