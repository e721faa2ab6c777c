import type { GraphView } from '../../pages/graph/view-model.ts';

/** Offers a file to the person. */
export function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Characters that XML 1.0 cannot hold at all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const escaped = (text: unknown): string =>
  String(text ?? '')
    .replaceAll(FORBIDDEN, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

const NODE_KEYS = ['name', 'type', 'entity_type', 'description', 'text'] as const;

/** The graph for Gephi, yEd, NetworkX and others (http://graphml.graphdrawing.org). */
export function graphml({ nodes, links }: GraphView): string {
  const keys = [
    ...NODE_KEYS.map((key) => `<key id="${key}" for="node" attr.name="${key}" attr.type="string"/>`),
    ...['relation', 'evidence'].map((key) => `<key id="${key}" for="edge" attr.name="${key}" attr.type="string"/>`),
  ];
  const data = (key: string, value: unknown): string =>
    value === undefined || value === null ? '' : `<data key="${key}">${escaped(value)}</data>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ...keys,
    '<graph edgedefault="directed">',
    ...nodes.map(
      (node) => `<node id="${escaped(node.id)}">${NODE_KEYS.map((key) => data(key, node[key])).join('')}</node>`,
    ),
    ...links.map(
      ({ source, target, relation, edge_info: info }) =>
        `<edge source="${escaped(source)}" target="${escaped(target)}">${data('relation', relation)}${data('evidence', info?.text)}</edge>`,
    ),
    '</graph>',
    '</graphml>',
    '',
  ].join('\n');
}
