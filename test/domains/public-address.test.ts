/** DNS checks send nothing to addresses inside the operator's networks. */
import { createSocket } from 'node:dgram';
import { decode, encode } from 'dns-packet';
import { expect, test } from 'vitest';
import { isPublicAddress } from '#providers/dns/public-address.ts';
import { openDns } from '#providers/dns.ts';

const inside =
  '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.31.255.255 192.168.0.1 198.19.0.1 224.0.0.1 255.255.255.255 ' +
  ':: ::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::7f00:1 64:ff9b::a00:1 2002:7f00:1:: fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 ff02::1 x localhost 127.1 0x7f000001';

test.each(inside.split(' '))('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['1.1.1.1', '100.63.255.255', '172.32.0.1', '192.0.2.1', '2606:4700:4700::1111', '2a00::1'])(
  '%s is a public address',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test('name servers that a tenant names inside our networks are not queried', async () => {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (bytes, from) => {
    const {
      id = 0,
      questions: [question] = [],
      flag_rd,
    } = decode(bytes) as ReturnType<typeof decode> & { flag_rd: boolean };
    asked.push(`${question?.type} ${question?.name} ${flag_rd}`);
    const type = question?.type === 'A' ? ('A' as const) : ('NS' as const);
    const data = type === 'A' ? '127.0.0.1' : 'ns.tenant.test';
    const answers = question?.type === 'AAAA' ? [] : [{ type, name: question?.name ?? '', ttl: 1, data }];
    socket.send(
      encode({ type: 'response', id, questions: question ? [question] : [], answers }),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  const resolvers = [`127.0.0.1:${port}`];
  try {
    const unknown = { unknown: true };
    expect(await openDns({ resolvers, port, mayAsk: isPublicAddress }).askParent('shop.tenant.test')).toEqual({
      exists: 'unknown',
      ns: unknown,
      ds: unknown,
    });
    expect(asked.length).toBeGreaterThan(0);
    // Nothing but questions to the resolver, which ask for recursion.
    expect(asked.filter((one) => !one.endsWith('true'))).toEqual([]);
  } finally {
    socket.close();
  }
});
