/** The changes that mutation testing makes. Types, imports, keys, log lines and messages of thrown errors stay. */
import { parseAst } from 'vitest/node';

export type Change = { start: number; end: number; replacement: string };
type Node = { type: string; start: number; end: number; [key: string]: unknown };

const swapped: Record<string, string> = {
  ...{ '&&': '||', '||': '&&', '===': '!==', '!==': '===', '==': '!=', '!=': '==' },
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '+': '-', '-': '+', '*': '/', '%': '*' },
};
const sqlSwaps: [RegExp, string][] = [
  [/ and /g, ' or '],
  [/ is null/g, ' is not null'],
  [/ is not null/g, ' is null'],
  [/ <> /g, ' = '],
  [/ >= /g, ' > '],
  [/ <= /g, ' < '],
];
const isSql = /\b(select|update|delete|where)\b/;
/** Methods of the entity manager whose second argument is a condition. */
const queries = /^(find|findOne|findOneOrFail|count|nativeUpdate|nativeDelete)$/;
const unpromised = /^(?:deps\.)?log\.|^new \w*Error\(/;

/** All changes of the source, in order. */
export function mutantsOf(text: string): Change[] {
  const changes: Change[] = [];
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node, text, changes);
  return changes.toSorted((one, other) => one.start - other.start);
}

function visit(node: Node, text: string, changes: Change[]): void {
  const isTyped = /^TS(As|NonNull|Satisfies)/.test(node.type);
  if ((node.type.startsWith('TS') && !isTyped) || node.type === 'ImportDeclaration') return;
  if (unpromised.test(text.slice(node.start, node.end))) return;
  changes.push(...changesOf(node, text));
  for (const [key, value] of Object.entries(node)) {
    if ((key === 'key' && !node.computed) || (key === 'source' && node.type.startsWith('Export'))) continue;
    for (const child of [value].flat()) if (isNode(child)) visit(child, text, changes);
  }
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

function changesOf(node: Node, text: string): Change[] {
  const { type, start, end } = node;
  const change = (replacement: string, at: { start: number; end: number } = { start, end }) => ({
    start: at.start,
    end: at.end,
    replacement,
  });
  const { left, right, test, argument } = node as unknown as Record<'left' | 'right' | 'test' | 'argument', Node>;
  if (type === 'LogicalExpression' || type === 'BinaryExpression') {
    const operator = node.operator as string;
    const at = text.indexOf(operator, left.end);
    if (operator === '??') return [change('', { start: left.end, end: right.end })];
    const swap = swapped[operator];
    return swap ? [change(swap, { start: at, end: at + operator.length })] : [];
  }
  if (type === 'IfStatement' || type === 'ConditionalExpression') return [change('false', test), change('true', test)];
  if (type === 'UnaryExpression' && node.operator === '!') return [change(text.slice(argument.start, argument.end))];
  if (type === 'ExpressionStatement' && isEffect(node.expression as Node)) return [change(';')];
  if (type === 'CallExpression') return conditionChanges(node);
  if (type === 'TemplateLiteral') return sqlChanges(node, text);
  return type === 'Literal' ? literalChanges(node, text) : [];
}

function literalChanges({ value, start, end }: Node, text: string): Change[] {
  if (typeof value === 'boolean') return [{ start, end, replacement: String(!value) }];
  if (typeof value === 'number') return ['+', '-'].map((sign) => ({ start, end, replacement: `(${value} ${sign} 1)` }));
  if (typeof value !== 'string' || value === '') return [];
  return isSql.test(value) ? sqlChanges({ type: '', start, end }, text) : [{ start, end, replacement: "''" }];
}

function isEffect({ type, argument }: Node): boolean {
  if (type === 'AwaitExpression') return isEffect(argument as Node);
  return type === 'CallExpression' || type === 'AssignmentExpression';
}

function sqlChanges({ start, end }: Node, text: string): Change[] {
  const sql = text.slice(start, end);
  if (!isSql.test(sql)) return [];
  return sqlSwaps.flatMap(([from, to]) =>
    Array.from(sql.matchAll(from), ({ index, 0: found }) => ({
      start: start + index,
      end: start + index + found.length,
      replacement: to,
    })),
  );
}

/** Drops one property of a query's condition. */
function conditionChanges(node: Node): Change[] {
  const method = ((node.callee as Node).property as { name?: string } | undefined)?.name ?? '';
  const where = (node.arguments as Node[])[1];
  if (!queries.test(method) || where?.type !== 'ObjectExpression') return [];
  const properties = where.properties as Node[];
  return properties.map(({ start, end }, index) => {
    const next = properties[index + 1];
    return { start, end: next ? next.start : end, replacement: '' };
  });
}
