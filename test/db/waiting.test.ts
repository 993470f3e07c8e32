import { expect, test } from 'vitest';
import { loadUntil, type Notifications } from '#db/notifications.ts';
import { quickest } from '#test/stack/quickest.ts';

test('a waiter returns the current value when the process shuts down', async () => {
  const goesOn = async () => {
    const leaving = new AbortController();
    const listeners = new Set<unknown>();
    const notifications: Notifications = {
      on: (_channel, listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      ending: leaving.signal,
      close: async () => {},
    };
    const on = { channel: 'deployment_changed', id: 'dep_1' } as const;
    const waiting = loadUntil(
      notifications,
      on,
      async () => 'building',
      () => false,
      60_000,
    );
    setTimeout(() => leaving.abort(), 50);
    expect(await waiting).toBe('building');
    expect(
      await loadUntil(
        notifications,
        on,
        async () => 'queued',
        () => false,
        60_000,
      ),
    ).toBe('queued');
    expect(listeners.size).toBe(0);
  };
  // Who hears nothing of the end looks again after a second.
  expect(await quickest(900, goesOn)).toBeLessThan(900);
});
