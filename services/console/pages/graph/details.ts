import { type GraphLink, type GraphNode, type GraphView, kindOf } from './view-model.ts';

const MAX_EDGES = 60;

interface Selection {
  readonly node: GraphNode;
  readonly view: GraphView;
  readonly nodes: ReadonlyMap<string, GraphNode>;
}

/** Details of a node: its text, the facts that touch it with the sentences that state them, the passages it is in. */
export function renderDetails(panel: HTMLElement, selection: Selection, onOpen: (node: string | null) => void): void {
  const { node, view } = selection;
  const links = view.links.filter(({ source, target }) => source === node.id || target === node.id);
  const facts = links.filter(({ edge_class }) => edge_class === 'semantic');
  const others = links.filter(({ edge_class }) => edge_class !== 'semantic');
  const close = make('button', 'close', '×');
  close.setAttribute('aria-label', 'Close');
  close.addEventListener('click', () => onOpen(null));
  panel.replaceChildren(
    close,
    make('small', 'kind', kindOf(node)),
    make('h2', '', titleOf(selection)),
    ...paragraph('more', node.source_user),
    ...paragraph('description', node.description),
    ...paragraph('source-text', node.text),
    ...section('Facts', facts, selection, onOpen),
    ...section('Connected', others, selection, onOpen),
  );
  panel.scrollTop = 0;
}

/** A passage is named by its first words: its text follows anyway, so its document says more. */
function titleOf({ node, view, nodes }: Selection): string {
  if (!node.text?.startsWith(node.name.slice(0, 20))) return node.name;
  for (const { source, target } of view.links) {
    if (source !== node.id && target !== node.id) continue;
    const other = nodes.get(source === node.id ? target : source);
    if (other?.type === 'TextDocument') return other.name;
  }
  return node.name;
}

function section(title: string, links: readonly GraphLink[], selection: Selection, onOpen: (node: string) => void) {
  if (links.length === 0) return [];
  const list = make('ul', '', '');
  list.append(...links.slice(0, MAX_EDGES).map((link) => linkEntry(link, selection, onOpen)));
  const more = links.length > MAX_EDGES ? [make('p', 'more', `and ${links.length - MAX_EDGES} more`)] : [];
  return [make('h3', '', `${title} (${links.length})`), list, ...more];
}

function linkEntry(link: GraphLink, { node, nodes }: Selection, onOpen: (node: string) => void): HTMLElement {
  const outgoing = link.source === node.id;
  const otherId = outgoing ? link.target : link.source;
  const other = nodes.get(otherId);
  const entry = make('li', '', '');
  const relation = make('em', '', `${outgoing ? '→' : '←'} ${link.relation.replaceAll('_', ' ')} `);
  const open = make('button', 'link', other?.name ?? otherId);
  open.addEventListener('click', () => onOpen(otherId));
  entry.append(relation, open);
  const text = link.edge_info?.text;
  if (text) entry.append(make('q', '', text));
  return entry;
}

function paragraph(className: string, text: unknown): HTMLElement[] {
  return typeof text === 'string' && text !== '' ? [make('p', className, text)] : [];
}

/** Text is only ever set as text: what users added to a dataset never becomes markup. */
function make(tag: string, className: string, text: string): HTMLElement {
  const created = document.createElement(tag);
  if (className !== '') created.className = className;
  if (tag === 'button') (created as HTMLButtonElement).type = 'button';
  created.textContent = text;
  return created;
}
