/** One DNS query to one name server: over UDP, and over TCP if the answer was truncated (RFC 7766). */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import {
  CHECKING_DISABLED,
  type DecodedPacket as Decoded,
  decode,
  encode,
  type Packet,
  RECURSION_DESIRED,
  type RecordType,
  streamDecode,
  streamEncode,
} from 'dns-packet';

/** With the response code (RFC 1035 section 4.1.1), which the library's types lack. */
export type DecodedPacket = Decoded & { rcode: string };

export type DnsQuestion = { name: string; type: RecordType; recursion: boolean; checking?: boolean };

const timeoutMs = 2_000;
const udpBytes = 1232;

/** The server's answer; undefined if none arrived in time, or if it does not match the query. */
export async function exchange(server: string, question: DnsQuestion): Promise<DecodedPacket | undefined> {
  const [, address = '', port = ''] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(server) ?? [];
  const packet = packetOf(question);
  const answer = await overUdp({ address, port: Number(port) }, packet).catch(() => undefined);
  if (!answer?.flag_tc) return answer;
  return await overTcp({ address, port: Number(port) }, packet).catch(() => undefined);
}

function packetOf({ name, type, recursion, checking = true }: DnsQuestion): Packet {
  return {
    type: 'query',
    id: randomInt(65536),
    flags: (recursion ? RECURSION_DESIRED : 0) | (checking ? 0 : CHECKING_DISABLED),
    questions: [{ name, type, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: udpBytes,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  };
}

type Server = { address: string; port: number };

/** The socket accepts packets only from this server, on an unpredictable port. */
function overUdp({ address, port }: Server, packet: Packet): Promise<DecodedPacket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const answer = new Promise<DecodedPacket>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      const got = read(() => decode(bytes) as DecodedPacket, packet);
      if (got) resolve(got);
    });
    socket.connect(port, address, () => socket.send(encode(packet)));
    setTimeout(() => reject(new Error('no response in time')), timeoutMs).unref();
  });
  return answer.finally(() => socket.close());
}

function overTcp({ address, port }: Server, packet: Packet): Promise<DecodedPacket> {
  const socket = connect(port, address);
  const answer = new Promise<DecodedPacket>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed without a response')));
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const got = read(() => streamDecode(received) as DecodedPacket, packet);
      if (got) resolve(got);
      else reject(new Error('the response does not match the query'));
    });
    socket.on('connect', () => socket.write(streamEncode(packet)));
    setTimeout(() => reject(new Error('no response in time')), timeoutMs).unref();
  });
  return answer.finally(() => socket.destroy());
}

/** The packet, if it can be parsed and answers this query. */
function read(parse: () => DecodedPacket, asked: Packet): DecodedPacket | undefined {
  try {
    const packet = parse();
    const [question] = packet.questions ?? [];
    const [wanted] = asked.questions ?? [];
    const isOurs =
      packet.id === asked.id &&
      packet.type === 'response' &&
      question?.type === wanted?.type &&
      question?.name.toLowerCase() === wanted?.name.toLowerCase();
    return isOurs ? packet : undefined;
  } catch {
    return undefined;
  }
}
