import type { Node } from 'web-tree-sitter';

/** Node types of what a class says it extends and implements, over all grammars in use. */
const HERITAGE: ReadonlySet<string> = new Set([
  ...['class_heritage', 'superclass', 'super_interfaces', 'extends_interfaces', 'extends_type_clause'],
  ...['base_list', 'base_clause', 'class_interface_clause', 'base_class_clause'],
]);
const OF_TYPES = /class|interface|struct|record|enum/u;
const MAX_READ = 1000;
const NO_NAME = /^(?:extends|implements|public|protected|private|virtual|with)$/u;

/** Names of the classes and interfaces that a definition extends or implements, without what they are of. */
export function basesOf(node: Node): readonly string[] {
  const trait = node.type === 'impl_item' ? node.childForFieldName('trait') : null;
  if (trait !== null) return namesIn(trait.text);
  if (!OF_TYPES.test(node.type)) return [];
  const ofPython = node.type === 'class_definition' ? node.childForFieldName('superclasses') : null;
  const stated = node.namedChildren.filter(({ type }) => HERITAGE.has(type));
  return [...stated, ...(ofPython === null ? [] : [ofPython])].flatMap(({ text }) => namesIn(text));
}

function namesIn(text: string): readonly string[] {
  let depth = 0;
  let flat = '';
  // What a type is of, and what a call for a base is given, names no base.
  for (const sign of text.slice(0, MAX_READ).replace(/^\(|\)$/gu, '')) {
    if (/[>)\]]/u.test(sign)) depth -= 1;
    if (depth === 0) flat += sign;
    if (/[<([]/u.test(sign)) depth += 1;
  }
  return flat
    .replaceAll(/\w+(?:::|\\)/gu, '')
    .replaceAll(/\b\w+\s*=[^,]*/gu, '')
    .split(/[,\s:]+/u)
    .map((one) => /([\p{L}_$][\p{L}\p{N}_$]*)[^\p{L}\p{N}_$]*$/u.exec(one)?.[1] ?? '')
    .filter((one) => one !== '' && !NO_NAME.test(one));
}
