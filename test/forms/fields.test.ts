/** Lists of fields, and answers held against them: without a database, for they are pure. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formFields, intakeFields } from '#api/forms/fields.ts';
import { validateValues } from '#api/forms/values.ts';
import type { FormField } from '#db/forms/form.ts';
import { fieldKinds } from '#rules/states.ts';

const field = (part: Partial<FormField> = {}): FormField => ({
  name: 'it',
  label: 'It',
  kind: 'text',
  required: false,
  ...part,
});
const judge = (fields: FormField[], pairs: [string, string][]) => {
  const given = new Map<string, string[]>();
  for (const [name, value] of pairs) given.set(name, [...(given.get(name) ?? []), value]);
  return validateValues(fields, given);
};
const choices = { options: ['Red', 'Green, dark', 'Blue'] };

test.each([
  [{ name: '', label: 'L', kind: 'text' }],
  [{ name: '_return', label: 'L', kind: 'text' }],
  [{ name: '__proto__', label: 'L', kind: 'text' }],
  [{ name: 'a b', label: 'L', kind: 'text' }],
  [{ name: 'altcha', label: 'L', kind: 'text' }],
  [{ name: 'x'.repeat(65), label: 'L', kind: 'text' }],
  [{ name: 'a', label: ' ', kind: 'text' }],
  [{ name: 'a', label: 'two\nlines', kind: 'text' }],
  [{ name: 'a', label: 'L', kind: 'file' }],
  [{ name: 'a', label: 'L', kind: 'password' }],
  [{ name: 'a', label: 'L', kind: 'select' }],
  [{ name: 'a', label: 'L', kind: 'radio', options: [] }],
  [{ name: 'a', label: 'L', kind: 'radio', options: ['x', 'x'] }],
  [{ name: 'a', label: 'L', kind: 'text', options: ['x'] }],
  [{ name: 'a', label: 'L', kind: 'date', max_length: 5 }],
  [{ name: 'a', label: 'L', kind: 'text', max_length: 0 }],
  [{ name: 'a', label: 'L', kind: 'text', max_length: 1e9 }],
  [{ name: 'a', label: 'L', kind: 'text', pattern: '(a+)+$' }],
])('a field like %j is refused', (one) => {
  expect(formFields.safeParse([one]).success).toBe(false);
});

test('a form has 1 to 50 fields with unique names', () => {
  const list = (count: number) => Array.from({ length: count }, (_, index) => field({ name: `f${index}` }));
  expect(formFields.safeParse(list(50)).success).toBe(true);
  expect(formFields.safeParse(list(51)).success).toBe(false);
  expect(formFields.safeParse([]).success).toBe(false);
  expect(intakeFields.safeParse([]).success).toBe(true);
  const twice = formFields.safeParse([...list(2), field({ name: 'f0' })]);
  expect(twice.error?.issues[0]?.message).toContain('f0 is used more than once');
  // Names that every object has already are names like any other.
  const inherited = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'].map((name) => field({ name }));
  expect(formFields.safeParse(inherited).success).toBe(true);
  expect(judge(inherited, []).values).toEqual([]);
});

test.each<[Partial<FormField>, string, string | string[] | 'refused']>([
  [{ kind: 'text' }, '  Ada  ', 'Ada'],
  [{ kind: 'text' }, 'two\nlines', 'refused'],
  [{ kind: 'text', max_length: 3 }, 'four', 'refused'],
  [{ kind: 'text' }, 'x'.repeat(501), 'refused'],
  [{ kind: 'text' }, 'nul\0', 'refused'],
  [{ kind: 'text' }, '\ud800', 'refused'],
  [{ kind: 'textarea' }, 'two\r\nlines\r', 'two\nlines\n'],
  [{ kind: 'textarea' }, '\u001b[31m', 'refused'],
  [{ kind: 'textarea', max_length: 5 }, 'a\r\nb\r\nc', 'a\nb\nc'],
  [{ kind: 'email' }, 'Ada@Example.com', 'Ada@Example.com'],
  [{ kind: 'email' }, 'ada', 'refused'],
  [{ kind: 'email' }, 'ada@example.com\r\nBcc: all@example.com', 'refused'],
  [{ kind: 'email' }, 'Ada <ada@example.com>', 'refused'],
  [{ kind: 'email' }, 'a@b.com, c@d.com', 'refused'],
  [{ kind: 'tel' }, '+43 (0)1 234-56/7 ext. 8', '+43 (0)1 234-56/7 ext. 8'],
  [{ kind: 'tel' }, 'call me', 'refused'],
  [{ kind: 'url' }, 'https://example.com/a?b=c', 'https://example.com/a?b=c'],
  [{ kind: 'url' }, 'javascript:alert(1)', 'refused'],
  [{ kind: 'url' }, 'example', 'refused'],
  [{ kind: 'number' }, '-12.50', '-12.50'],
  [{ kind: 'number' }, '1e3', '1e3'],
  [{ kind: 'number' }, 'NaN', 'refused'],
  [{ kind: 'number' }, '0x10', 'refused'],
  [{ kind: 'date' }, '2028-02-29', '2028-02-29'],
  [{ kind: 'date' }, '2027-02-29', 'refused'],
  [{ kind: 'date' }, '29.2.2028', 'refused'],
  [{ kind: 'select', ...choices }, 'Green, dark', 'Green, dark'],
  [{ kind: 'select', ...choices }, 'Pink', 'refused'],
  [{ kind: 'radio', ...choices }, 'constructor', 'refused'],
  [{ kind: 'checkboxes', ...choices }, 'Blue', ['Blue']],
  [{ kind: 'checkboxes', ...choices }, 'Pink', 'refused'],
  [{ kind: 'checkbox' }, 'on', 'yes'],
  [{ kind: 'checkbox' }, 'I agree', 'I agree'],
  [{ kind: 'checkbox', required: true }, 'off', 'refused'],
  [{ kind: 'hidden' }, ' as it is ', ' as it is '],
])('a field %j answered with %j is %j', (part, answer, wanted) => {
  const { values, faults } = judge([field(part)], [['it', answer]]);
  if (wanted === 'refused') {
    expect(values).toEqual([]);
    expect(faults).toMatchObject([{ name: 'it', message: expect.stringContaining('It: ') }]);
  } else {
    expect(faults).toEqual([]);
    expect(values).toEqual([['it', wanted]]);
  }
});

test('required, single and invalid answers are reported together', () => {
  const fields = [
    field({ name: 'name', label: 'Your name', required: true }),
    field({ name: 'mail', label: 'Address', kind: 'email' }),
    field({ name: 'ticks', label: 'Colours', kind: 'checkboxes', ...choices }),
  ];
  const { faults } = judge(fields, [
    ['name', '   '],
    ['mail', 'a@example.com'],
    ['mail', 'b@example.com'],
    ['ticks', 'Red'],
    ['ticks', 'Red'],
  ]);
  expect(faults.map(({ name }) => name)).toEqual(['name', 'mail', 'ticks']);
  expect(faults[0]?.message).toBe('Your name: please fill this in.');
});

test('known answers keep the form’s order, and unknown names follow', () => {
  const fields = [field({ name: 'b' }), field({ name: 'a', kind: 'checkboxes', ...choices })];
  const { values, faults } = judge(fields, [
    ['utm', 'x'],
    ['a', 'Blue'],
    ['a', 'Red'],
    ['b', '1'],
    ['utm', 'y'],
    ['constructor', 'z'],
  ]);
  expect(faults).toEqual([]);
  expect(values).toEqual([
    ['b', '1'],
    ['a', ['Red', 'Blue']],
    ['utm', ['x', 'y']],
    ['constructor', 'z'],
  ]);
  expect(judge(fields, [['__proto__', 'x']]).faults).toHaveLength(1);
  const thousands = Array.from({ length: 5000 }, (_, index): [string, string] => [`f${index}`, 'x']);
  expect(judge(fields, thousands).faults).toHaveLength(1);
  expect(validateValues(fields, new Map([['utm', ['x']]]), { keepUnknown: false }).faults).toHaveLength(1);
});

test('no input breaks validation or passes a value that a field forbids', () => {
  const fields = fieldKinds.map((kind) => {
    const options = ['select', 'radio', 'checkboxes'].includes(kind) ? choices : {};
    return field({ name: kind, label: kind, kind, ...options });
  });
  const answer = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('Red', 'on', '2026-01-01', '1'));
  const pairs = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...fieldKinds), fc.string()), answer));
  fc.assert(
    fc.property(pairs, (all) => {
      const { values } = judge(fields, all as [string, string][]);
      // What was let through once is let through again, and unchanged.
      const again = values.flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]));
      expect(judge(fields, again)).toEqual({ values, faults: [] });
    }),
    { numRuns: 2_000 },
  );
});
