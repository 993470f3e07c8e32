/** Records and zones by themselves: the words of a refusal, the zone file's format, and what a change sends. */
import { expect, test } from 'vitest';
import { type RecordInput, readRecord, requireCompatible } from '#rules/dns/records.ts';
import { contentOf, type ZoneRecord, zoneChanges, zoneSets } from '#rules/dns/zone.ts';

const zone = 'example.org';
const record = (more: Partial<ZoneRecord>): ZoneRecord => {
  return { type: 'A', name: `www.${zone}`, content: '192.0.2.1', ttl: 300, priority: null, ...more };
};

test.each<[Partial<RecordInput>, string]>([
  [{ name: 'a b' }, 'a host name cannot contain spaces or invisible characters'],
  [{ name: 'a/b' }, '"a/b" is not a host name'],
  [{ name: 'www.example.com.' }, 'its name is not within the domain'],
  [{ priority: 1 }, 'a A record cannot have a priority'],
  [{ type: 'SRV', content: '1 2 a.com' }, 'an SRV record needs a priority'],
  [{ type: 'CNAME', content: '192.0.2.1' }, 'it must point to a name, not to an IP address'],
  [{ type: 'CNAME', content: 'localhost' }, '"localhost" is not a fully qualified name'],
  [{ type: 'CNAME', content: `www.${zone}` }, 'it points to itself'],
  [{ type: 'NS', content: 'a_b.com' }, '"a_b.com" is not a host name: it contains an underscore'],
  [{ type: 'MX', content: '10 mx.example.com' }, 'its content must be the mail server only'],
  [{ type: 'TXT', content: 'a\nb' }, 'its text must be on one line'],
  [{ type: 'TXT', content: 'a\ud800' }, 'its text contains characters that are not allowed'],
  [{ type: 'TXT', content: '""' }, 'its text is empty'],
  [{ type: 'TXT', content: 'é'.repeat(1025) }, 'its text has 2050 bytes; the limit is 2048'],
  [{ type: 'CAA', content: '1 issue "a.org"' }, 'its content must have the form 0 issue "letsencrypt.org"'],
])('a record with %j is refused with the reason', (more, reason) => {
  const given = { type: 'A', name: 'www', content: '192.0.2.1', ...more } as const;
  expect(() => readRecord(zone, given)).toThrow(reason);
});

test.each<[Partial<ZoneRecord>, Partial<ZoneRecord>, string]>([
  [{ type: 'TXT', content: 'x' }, { type: 'CNAME' }, `www.${zone} has a CNAME record`],
  [{ type: 'CNAME', content: 'a.com' }, { type: 'TXT' }, 'a name with a CNAME record cannot have other records'],
  [{ type: 'NS', content: 'a.com' }, {}, 'a name with NS records cannot have other records'],
  [{}, {}, 'the same record already exists'],
])('a record with %j beside one with %j is refused with the reason', (more, beside, reason) => {
  expect(() => requireCompatible(zone, record(more), [record(beside)])).toThrow(reason);
});

test.each<[Partial<ZoneRecord>, string]>([
  [{ type: 'TXT', content: 'a "b" \\ ~' }, '"a \\"b\\" \\\\ ~"'],
  [{ type: 'TXT', content: 'é' }, '"\\195\\169"'],
  [{ type: 'TXT', content: 'a'.repeat(256) }, `"${'a'.repeat(255)}" "a"`],
  [{ type: 'CNAME', content: 'a.com' }, 'a.com.'],
  [{ type: 'MX', content: '.', priority: 0 }, '0 .'],
  [{ type: 'SRV', content: '5 5060 sip.a.com', priority: 1 }, '1 5 5060 sip.a.com.'],
])('a record with %j is %s in a zone file', (more, written) => {
  expect(contentOf(record(more))).toBe(written);
});

test('records of one name and type are one set with the shortest lifetime', () => {
  const records = [record({}), record({ content: '192.0.2.2', ttl: 60 }), record({})];
  expect(zoneSets(zone, { pairs: ['p1', 'p2'], records }, 'ns.test')).toMatchObject([
    {
      type: 'SOA',
      name: 'example.org.',
      contents: [expect.stringMatching(/^p1\.a\.ns\.test\. hostmaster\.ns\.test\. /)],
    },
    { type: 'NS', ttl: 3600, contents: ['p1.a.ns.test.', 'p1.b.ns.test.', 'p2.a.ns.test.', 'p2.b.ns.test.'] },
    { type: 'A', name: 'www.example.org.', ttl: 60, contents: ['192.0.2.1', '192.0.2.2'] },
  ]);
});

test('only changed sets of a zone are sent, and challenges stay', () => {
  const set = (name: string, contents: string[], ttl = 300, type = 'TXT') => {
    return { name: `${name}.${zone}.`, type, ttl, contents };
  };
  const there = [
    set('same', ['"a"', '"b"']),
    set('longer', ['"a"'], 60),
    set('other', ['"a"']),
    set('gone', ['"a"']),
    set('_acme-challenge', ['"a"']),
    set('soa', ['1'], 300, 'SOA'),
  ];
  const wanted = [set('same', ['"b"', '"a"']), set('longer', ['"a"']), set('other', ['"b"']), set('new', ['"a"'])];
  expect(zoneChanges(zone, there, [...wanted, set('soa', ['2'], 300, 'SOA')])).toEqual([
    set('gone', []),
    set('longer', ['"a"']),
    set('other', ['"b"']),
    set('new', ['"a"']),
  ]);
});
