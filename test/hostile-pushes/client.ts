/** A process that writes and sends hostile pushes, so that its own work delays no response of the API. */
import { pktLine } from '#git/pkt-line.ts';
import { post } from '#test/git/wire.ts';
import { hostileRepositories } from './all.ts';
import { packBuilder } from './pack-builder.ts';
import type { HostileRepository } from './repository.ts';

export type Order = { what: string; address: string; head: string };
/** First that the push is ready, so that measuring can begin; then, after `send`, its result. */
export type News = { megabytes: number } | { text: string; seconds: number };

function bodyOf(hostile: HostileRepository, head: string): Buffer<ArrayBuffer> {
  const pack = packBuilder();
  const built = hostile.build(pack, head);
  const whole = typeof built === 'string' ? { tips: { 'refs/heads/main': built } } : built;
  const { tips = {}, pack: bytes = pack.bytes() } = whole;
  const commands = Object.entries(tips).map(([ref, tip], at) => {
    const from = ref === 'refs/heads/main' ? head : '0'.repeat(40);
    return pktLine(`${from} ${tip} ${ref}${at === 0 ? '\0 report-status side-band-64k' : ''}`);
  });
  return Buffer.concat([Buffer.from(`${commands.join('')}0000`), bytes]);
}

const tell = (news: News) => process.send?.(news);
let send: (() => Promise<void>) | undefined;

process.on('message', (order: Order | 'send') => {
  if (order === 'send') return void send?.();
  const hostile = hostileRepositories.find(({ what }) => what === order.what);
  if (!hostile) throw new Error(`no push is called ${order.what}`);
  const body = bodyOf(hostile, order.head);
  send = async () => {
    const began = performance.now();
    const { text } = await post(order.address, 'git-receive-pack', body);
    tell({ text, seconds: (performance.now() - began) / 1000 });
  };
  tell({ megabytes: body.length / 1_000_000 });
});
