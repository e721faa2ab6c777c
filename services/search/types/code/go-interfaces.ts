import type { CodeNode } from './code-node.ts';

interface GoFile {
  readonly family: string;
  readonly folder: string;
  readonly definitions: readonly CodeNode[];
}

/** A type with the names of its methods, wherever in its package they are. */
interface Methods {
  readonly node: CodeNode;
  readonly names: ReadonlySet<string>;
}

/** Types of Go with the interfaces whose methods they all have: the language asks for no declaration. */
export function goImplementations(
  modules: readonly GoFile[],
): readonly { readonly type: CodeNode; readonly asked: CodeNode }[] {
  const owners = modules.filter(({ family }) => family === 'go').flatMap(methodsOf);
  const merged = [...Map.groupBy(owners, ({ key }) => key).values()].flatMap((parts): Methods[] => {
    const node = parts.find((part) => part.node !== null)?.node ?? null;
    return node === null ? [] : [{ node, names: new Set(parts.flatMap(({ names }) => names)) }];
  });
  const types = merged.filter(({ node }) => node.symbolKind !== 'interface');
  const byMethod = new Map<string, Methods[]>();
  for (const one of types) {
    for (const name of one.names) byMethod.set(name, [...(byMethod.get(name) ?? []), one]);
  }
  return merged.flatMap(({ node: asked, names }) => {
    if (asked.symbolKind !== 'interface') return [];
    const [rarest] = [...names].map((name) => byMethod.get(name) ?? []).sort((a, b) => a.length - b.length);
    return (rarest ?? [])
      .filter((one) => one.node.repo === asked.repo && names.isSubsetOf(one.names))
      .map(({ node: type }) => ({ type, asked }));
  });
}

/** The methods of each type of a file; a type may be in another file of its folder. */
function methodsOf({ definitions, folder }: GoFile) {
  const types = new Map(definitions.filter(({ name }) => !name.includes('.')).map((node) => [node.name, node]));
  const inner = definitions.filter(({ name, symbolKind }) => name.includes('.') && symbolKind === 'method');
  const byOwner = Map.groupBy(inner, ({ name }) => name.slice(0, name.indexOf('.')));
  const repo = definitions[0]?.repo ?? '';
  return [...new Set([...byOwner.keys(), ...types.keys()])].map((owner) => ({
    key: `${repo}\n${folder}\n${owner}`,
    node: types.get(owner) ?? null,
    names: (byOwner.get(owner) ?? []).map(({ name }) => name.slice(name.indexOf('.') + 1)),
  }));
}
