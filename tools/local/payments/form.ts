/** Parses the provider's form encoding of nested values: `line_items[0][price_data][currency]=eur`. Pure. */

type Tree = { [name: string]: unknown };

export function readForm(text: string): Tree {
  const tree: Tree = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) put(tree, name.split(/\[|\]\[?/).filter(Boolean), value);
  return tree;
}

function put(tree: Tree, names: string[], value: string): void {
  const [first = '', ...rest] = names;
  if (rest.length === 0) {
    tree[first] = value;
    return;
  }
  tree[first] ??= Object.create(null);
  put(tree[first] as Tree, rest, value);
}
