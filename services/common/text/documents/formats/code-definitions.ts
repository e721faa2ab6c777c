import type { Node } from 'web-tree-sitter';

/** Node types that define something with a name, over all grammars in use. */
export const DEFINITIONS = new Set(
  `
    function_definition function_declaration generator_function_declaration function_item function_statement
    function_signature method_definition method_declaration method singleton_method constructor_declaration
    class_definition class_declaration abstract_class_declaration class_specifier class module module_definition
    struct_specifier struct_item struct_declaration union_specifier union_item enum_specifier enum_item
    enum_declaration interface_declaration trait_item trait_declaration impl_item mod_item macro_definition
    type_item type_declaration type_alias_declaration type_definition annotation_type_declaration
    record_declaration delegate_declaration property_declaration internal_module namespace_definition
    namespace_declaration rule_set media_statement keyframes_statement supports_statement class_statement
    enum_statement section
  `
    .trim()
    .split(/\s+/),
);

/** Between the parts of a qualified name. */
export function separatorOf(language: string): string {
  return language === 'cpp' || language === 'c' || language === 'rust' ? '::' : '.';
}

export function nameOf(node: Node): string | null {
  if (node.type === 'impl_item') return typeName(node.childForFieldName('type'));
  if (node.type === 'rule_set' || node.type.endsWith('_statement')) return firstWords(node);
  if (node.type === 'method_declaration') {
    const receiver = node.childForFieldName('receiver')?.descendantsOfType('type_identifier')[0]?.text;
    const name = node.childForFieldName('name')?.text ?? null;
    return receiver === undefined || name === null ? name : `${receiver}.${name}`;
  }
  const own = node.childForFieldName('name') ?? node.childForFieldName('left');
  if (own !== null) return own.text.slice(0, 200).replaceAll(/^["']|["']$/g, '');
  const declared = declaredName(node.childForFieldName('declarator'));
  if (declared !== null) return declared;
  const inner = node.namedChildren.find(
    (child) =>
      child.type === 'type_spec' || child.type === 'type_alias' || /identifier$|_name$|^name$/.test(child.type),
  );
  return inner === undefined ? null : (inner.childForFieldName('name')?.text ?? inner.text).slice(0, 200);
}

/** C and C++ put the name inside pointers, references and parameter lists: `char *Parser::next(int)` → `Parser::next`. */
function declaredName(declarator: Node | null): string | null {
  for (let node = declarator; node !== null; ) {
    if (/identifier$|^destructor_name$|^operator_name$/.test(node.type)) return node.text.slice(0, 200);
    node =
      node.childForFieldName('declarator') ??
      node.namedChildren.find((child) => /declarator$|identifier$|_name$/.test(child.type)) ??
      null;
  }
  return null;
}

function typeName(node: Node | null): string | null {
  return node === null ? null : (node.descendantsOfType('type_identifier')[0]?.text ?? node.text).slice(0, 200);
}

/** The selector of a CSS rule, the name of a PowerShell function. */
function firstWords(node: Node): string | null {
  const name =
    node.childForFieldName('name') ?? node.namedChildren.find((child) => /name$|^selectors$/.test(child.type));
  const text = name?.text ?? node.text.split('{')[0] ?? '';
  const clean = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return clean === '' ? null : clean;
}
