/** The process of the simulated payment provider, for `npm start` and acceptance tests. */
import { systemClock } from '#runtime/clock.ts';
import { findMock } from '#tools/local/payments/stripe-mock.ts';
import { startPaymentsStub } from '#tools/local/payments/stub.ts';

const { PAYMENTS_PORT, PAYMENTS_KEY, PAYMENTS_WEBHOOK_SECRET, PAYMENTS_API_URL, PAYMENTS_FILE } = process.env;

const mock = findMock(process.env);
const log = (msg: string) => console.log(JSON.stringify({ level: 30, msg }));
log(
  mock
    ? 'request shapes are validated by stripe-mock'
    : 'stripe-mock is not on PATH, so request shapes are not validated',
);

const stub = await startPaymentsStub({
  clock: systemClock,
  port: Number(PAYMENTS_PORT),
  url: `http://localhost:${PAYMENTS_PORT}`,
  key: PAYMENTS_KEY ?? '',
  hooks: {
    connect: { url: `${PAYMENTS_API_URL}/hooks/payments`, secret: PAYMENTS_WEBHOOK_SECRET ?? '' },
    platform: { url: `${PAYMENTS_API_URL}/hooks/billing`, secret: PAYMENTS_WEBHOOK_SECRET ?? '' },
  },
  mock,
  ...(PAYMENTS_FILE ? { file: PAYMENTS_FILE } : {}),
});
process.send?.({ ready: true });

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void stub.close().then(() => process.exit(0)));
}
