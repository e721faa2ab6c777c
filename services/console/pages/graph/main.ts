import { renderDetails } from './details.ts';
import { type Drawing, draw } from './drawing.ts';
import { paletteFor } from './palette.ts';
import {
  barsOf,
  datesIn,
  type GraphNode,
  groupsOf,
  kindOf,
  nodeFinder,
  type PackedGraph,
  type Period,
  periodBetween,
  shownOf,
  unpacked,
  withoutRepeats,
} from './view-model.ts';

function element<Kind extends HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Kind;
}

interface PageData extends PackedGraph {
  readonly dataset: string;
  readonly total_nodes?: number;
}

const data = JSON.parse(element('graph-data').textContent ?? '{}') as PageData;
const { total_nodes } = data;
const view = withoutRepeats({ ...unpacked(data, data.dataset), ...(total_nodes && { total_nodes }) });
const nodes = new Map(view.nodes.map((node) => [node.id, node]));
const groups = groupsOf(view.nodes);
const hidden = new Set(groups.hiddenAtFirst);
let period: Period | null = null;
const darkMode = window.matchMedia('(prefers-color-scheme: dark)');

element('title').textContent = view.dataset;
document.title = `${view.dataset} · Engram`;
element('counts').textContent = countsText();

if (view.nodes.length === 0) element('empty').hidden = false;
else if (canDraw()) void start();
else {
  element('empty').textContent = 'This browser has no WebGL, which draws the graph.';
  element('empty').hidden = false;
}

function canDraw(): boolean {
  return document.createElement('canvas').getContext('webgl2') !== null;
}

async function start(): Promise<void> {
  element('finder').hidden = false;
  element('tools').hidden = false;
  const paint = () => ({ colours: paletteFor([...groups.counts.keys()], darkMode.matches), dark: darkMode.matches });
  const drawing: Drawing = await draw(view, element('stage'), {
    groups,
    paint: paint(),
    shown: shown(),
    onSelect: (node) => select(drawing, node),
    onSettled: () => {
      document.body.dataset['settled'] = 'true';
    },
  });
  renderLegend(drawing, paint().colours);
  darkMode.addEventListener('change', () => {
    drawing.repaint(paint());
    renderLegend(drawing, paint().colours);
  });
  wireSearch(drawing);
  wireTime(drawing);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') select(drawing, null);
    if (event.key === '/' && document.activeElement !== element('search')) {
      event.preventDefault();
      element('search').focus();
    }
  });
  document.body.dataset['ready'] = 'true';
}

function shown() {
  return shownOf(view, groups, { hidden, period, withUndated: element<HTMLInputElement>('undated').checked });
}

/** Chooses a time by the dates that the facts have: each date is one step, however far it is from the next. */
function wireTime(drawing: Drawing): void {
  const counts = datesIn(view);
  const dates = [...counts.keys()];
  if (dates.length < 2) return;
  element('time').hidden = false;
  document.body.classList.add('timed');
  element('bars').replaceChildren(
    ...barsOf(counts).map((height) => {
      const bar = document.createElement('i');
      bar.style.height = `${Math.max(6, height * 100)}%`;
      return bar;
    }),
  );
  const [earliest, latest, undated] = ['earliest', 'latest', 'undated'].map((id) => element<HTMLInputElement>(id));
  if (earliest === undefined || latest === undefined || undated === undefined) return;
  const last = String(dates.length - 1);
  for (const [thumb, value] of [
    [earliest, '0'],
    [latest, last],
  ] as const) {
    thumb.max = last;
    thumb.value = value;
  }
  const show = (): void => {
    const names = [earliest, latest].map((thumb) => (dates[thumb.valueAsNumber] ?? '').replace('/', ' – '));
    element('period').textContent = names.join(' to ');
    for (const [at, thumb] of [earliest, latest].entries()) thumb.setAttribute('aria-valuetext', names[at] ?? '');
    // Where both stand at the end, the earliest lies on top: it alone can move.
    earliest.style.zIndex = earliest.valueAsNumber > dates.length / 2 ? '1' : '';
    undated.disabled = periodBetween(dates, earliest.valueAsNumber, latest.valueAsNumber) === null;
  };
  const choose = (): void => {
    period = periodBetween(dates, earliest.valueAsNumber, latest.valueAsNumber);
    drawing.filter(shown());
  };
  earliest.addEventListener('input', () => {
    earliest.valueAsNumber = Math.min(earliest.valueAsNumber, latest.valueAsNumber);
    show();
  });
  latest.addEventListener('input', () => {
    latest.valueAsNumber = Math.max(earliest.valueAsNumber, latest.valueAsNumber);
    show();
  });
  for (const control of [earliest, latest, undated]) control.addEventListener('change', choose);
  show();
}

function countsText(): string {
  const drawn = view.nodes.length;
  const total = view.total_nodes ?? drawn;
  const nodeCount = total > drawn ? `${drawn.toLocaleString()} of ${total.toLocaleString()}` : drawn.toLocaleString();
  return `${nodeCount} nodes, ${view.links.length.toLocaleString()} edges`;
}

function renderLegend(drawing: Drawing, colours: ReadonlyMap<string, string>): void {
  const legend = element('legend');
  legend.replaceChildren(
    ...[...groups.counts].map(([group, count]) => {
      const entry = document.createElement('button');
      entry.type = 'button';
      entry.setAttribute('aria-pressed', String(!hidden.has(group)));
      if (group === 'Other types') entry.title = groups.rest.join(', ');
      const dot = document.createElement('i');
      dot.style.background = colours.get(group) ?? '#888888';
      const name = document.createElement('span');
      name.textContent = group;
      const number = document.createElement('b');
      number.textContent = count.toLocaleString();
      entry.append(dot, name, number);
      entry.addEventListener('click', () => {
        if (!hidden.delete(group)) hidden.add(group);
        entry.setAttribute('aria-pressed', String(!hidden.has(group)));
        drawing.filter(shown());
      });
      return entry;
    }),
  );
}

function select(drawing: Drawing, id: string | null): void {
  drawing.select(id);
  const node = id === null ? undefined : nodes.get(id);
  const panel = element('details');
  panel.hidden = node === undefined;
  if (node !== undefined) {
    renderDetails(panel, { node, view, nodes }, (other) => {
      select(drawing, other);
      if (other !== null) drawing.focus(other, panel.offsetWidth);
    });
  }
}

const MAX_HITS = 12;

function wireSearch(drawing: Drawing): void {
  const input = element<HTMLInputElement>('search');
  const list = element('hits');
  const find = nodeFinder(view.nodes);
  const show = (): void => {
    list.hidden = input.value.trim() === '';
    const entries = find(input.value, MAX_HITS).map((node) =>
      hitEntry(node, () => {
        list.hidden = true;
        select(drawing, node.id);
        drawing.focus(node.id, element('details').offsetWidth);
      }),
    );
    if (entries.length === 0) entries.push(emptyEntry());
    list.replaceChildren(...entries);
  };
  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') (list.querySelector('button') as HTMLButtonElement | null)?.click();
  });
  document.addEventListener('click', (event) => {
    if (!(event.target as HTMLElement).closest('#finder')) list.hidden = true;
  });
}

function hitEntry(node: GraphNode, onClick: () => void): HTMLElement {
  const entry = document.createElement('button');
  entry.type = 'button';
  const name = document.createElement('span');
  name.textContent = node.name;
  const group = document.createElement('small');
  group.textContent = kindOf(node);
  entry.append(name, group);
  entry.addEventListener('click', onClick);
  return entry;
}

function emptyEntry(): HTMLElement {
  const entry = document.createElement('p');
  entry.textContent = 'Nothing found';
  return entry;
}
