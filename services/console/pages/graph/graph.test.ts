import { expect } from 'chai';
import { groupNodes, type Network } from './communities.ts';
import { arrangeCluster, placeClusters } from './layout.ts';
import { FREE, paletteFor } from './palette.ts';
import {
  datesIn,
  type GraphView,
  groupsOf,
  neighbourhoodOf,
  nodeFinder,
  periodOf,
  shortestPath,
  shownOf,
  unpacked,
} from './view-model.ts';

/** `rings` rings of `size` nodes, each joined with the next by one edge. */
function rings(count: number, size: number): Network {
  const source: number[] = [];
  const target: number[] = [];
  for (let node = 0; node < count * size; node += 1) {
    const first = node - (node % size);
    for (const step of [1, 2, 3]) {
      source.push(node);
      target.push(first + ((node + step) % size));
    }
    if (node % size === 0 && node > 0) {
      source.push(node);
      target.push(node - 1);
    }
  }
  return { order: count * size, source, target, weight: source.map(() => 1) };
}

const view: GraphView = unpacked(
  {
    nodes: [
      { id: 'doc', name: 'notes', type: 'TextDocument' },
      { id: 'passage', name: 'Ada met Bob.', type: 'DocumentChunk' },
      { id: 'ada', name: 'Ada Berg', type: 'Entity', entity_type: 'person' },
      { id: 'bob', name: 'Bob', type: 'Entity', entity_type: 'person' },
      { id: 'oslo', name: 'Oslo', type: 'Entity', entity_type: 'place' },
      { id: 'person', name: 'person', type: 'EntityType' },
    ],
    relations: [
      { name: 'contains', edge_class: 'structural' },
      { name: 'met', edge_class: 'semantic' },
      { name: 'lives_in', edge_class: 'semantic' },
      { name: 'is_a', edge_class: 'structural' },
      { name: 'is_part_of', edge_class: 'structural' },
    ],
    links: [
      [1, 0, 4],
      [1, 2, 0, ['2019', '2025-03-05']],
      [2, 3, 1, ['2025-03-05']],
      [3, 4, 2, ['2019/2021-05']],
      [2, 5, 3],
      [3, 5, 3],
    ],
  },
  'notes',
);

describe('graph of the console', () => {
  it('finds communities, the same ones each time, each within its circle', () => {
    const network = rings(12, 40);
    const groups = groupNodes(network);
    expect(groups.map(({ length }) => length)).to.deep.equal(new Array(12).fill(40));
    for (const members of groups) expect(new Set(members.map((node) => Math.floor(node / 40))).size).to.equal(1);
    const clusters = placeClusters(network);
    expect(placeClusters(network)).to.deep.equal(clusters);
    for (const [at, a] of clusters.entries()) {
      for (const b of clusters.slice(at + 1)) {
        expect(Math.hypot(a.x - b.x, a.y - b.y)).to.be.greaterThan((a.radius + b.radius) * 0.95);
      }
    }
    const [first] = clusters;
    if (first === undefined) throw new Error('no cluster');
    const places = arrangeCluster(rings(1, 40), first);
    for (const { x, y } of places) expect(Math.hypot(x - first.x, y - first.y)).to.be.below(first.radius * 1.01);
  });

  it('puts what is too small or too large for a community into pieces that can be drawn', () => {
    const alone = { order: 500, source: [], target: [], weight: [] };
    expect(groupNodes(alone).map(({ length }) => length)).to.deep.equal([150, 150, 150, 50]);
    const star = {
      order: 900,
      source: Array.from({ length: 899 }, () => 0),
      target: Array.from({ length: 899 }, (_, at) => at + 1),
      weight: Array.from({ length: 899 }, () => 1),
    };
    expect(groupNodes(star).flat()).to.have.length(900);
  });

  it('tells types apart, with one entry for the rare ones', () => {
    const many = Array.from({ length: 20 }, (_, at) => ({
      id: `${at}`,
      name: `${at}`,
      type: 'Entity',
      entity_type: `kind ${at}`,
      degree: 1,
      importance: 1,
    }));
    const groups = groupsOf([...many, ...view.nodes]);
    expect(groups.counts.get('Other types')).to.equal(15);
    expect(groups.counts.get('person')).to.equal(2);
    const colours = [...paletteFor([...groups.counts.keys()], false).values()];
    expect(new Set(colours).size).to.equal(colours.length);
    expect([...groups.hiddenAtFirst]).to.deep.equal(['Entity type']);
  });

  it('has colours that people with any colour vision tell apart, in light and dark', () => {
    const fixed = ['Document', 'Passage', 'Entity type'];
    for (const [shade, ground] of [
      [0, '#ffffff'],
      [1, '#1a1b1e'],
    ] as const) {
      const greys = [...paletteFor(fixed, shade === 1).values()];
      const free = FREE.map((pair) => pair[shade]);
      for (const colour of free) expect(contrast(colour, ground), colour).to.be.at.least(3);
      const all = [...free, ...greys];
      for (const [at, a] of all.entries()) {
        for (const b of all.slice(at + 1)) {
          for (const vision of VISIONS) expect(distance(a, b, vision), `${a} ${b}`).to.be.at.least(0.08);
        }
      }
    }
  });

  it('filters by types and by time', () => {
    const groups = groupsOf(view.nodes);
    const names = (filter: Parameters<typeof shownOf>[2]) => {
      const shown = shownOf(view, groups, filter);
      return view.nodes.flatMap(({ id }, at) => (shown.nodes[at] === 1 ? [id] : []));
    };
    expect(names({ hidden: new Set(['person', 'Entity type']) })).to.deep.equal(['doc', 'passage', 'oslo']);
    const year = (from: string, until: string) => ({ from: Date.parse(from), until: Date.parse(until) });
    const hidden = new Set<string>();
    expect(names({ hidden, period: year('2020', '2021') })).to.deep.equal(['bob', 'oslo']);
    expect(names({ hidden, period: year('2025', '2026') })).to.deep.equal(['passage', 'ada', 'bob']);
    expect(names({ hidden, period: year('2025', '2026'), withUndated: true }))
      .to.include('doc')
      .and.not.include('oslo');
    expect([...datesIn(view).keys()]).to.deep.equal(['2019', '2019/2021-05', '2025-03-05']);
  });

  it('reads dates as the time that they cover', () => {
    const iso = (date: string) => {
      const period = periodOf(date);
      return period === null ? null : [period.from, period.until].map((ms) => new Date(ms).toISOString().slice(0, 10));
    };
    expect(iso('2019')).to.deep.equal(['2019-01-01', '2020-01-01']);
    expect(iso('2019-12')).to.deep.equal(['2019-12-01', '2020-01-01']);
    expect(iso('2024-02-29')).to.deep.equal(['2024-02-29', '2024-03-01']);
    expect(iso('2019/2021-05')).to.deep.equal(['2019-01-01', '2021-06-01']);
    expect(periodOf('2020-01-01/')?.until).to.equal(Number.POSITIVE_INFINITY);
    expect(periodOf('some day')).to.equal(null);
  });

  it('finds nodes by name, ways between them, and what is near', () => {
    const find = nodeFinder(view.nodes);
    expect(find('ada', 5).map(({ id }) => id)).to.deep.equal(['ada', 'passage']);
    expect(shortestPath(view, 'ada', 'oslo')?.map(({ to }) => to)).to.deep.equal(['bob', 'oslo']);
    expect(shortestPath(view, 'ada', 'doc')?.map(({ to }) => to)).to.deep.equal(['passage', 'doc']);
    expect(shortestPath(view, 'doc', 'person')).to.have.length(3);
    const near = (depth: number) => neighbourhoodOf(view, ['ada'], depth, 10).nodes.map(({ id }) => id);
    expect(near(1)).to.deep.equal(['passage', 'ada', 'bob', 'person']);
    expect(near(2)).to.include.members(['doc', 'oslo']);
    expect(neighbourhoodOf(view, ['ada'], 1, 2).nodes.map(({ id }) => id)).to.deep.equal(['ada', 'bob']);
  });
});

/** Full colour vision, protanopia, deuteranopia, tritanopia (Machado and others, 2009), in linear light. */
const VISIONS = [
  [1, 0, 0, 0, 1, 0, 0, 0, 1],
  [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
];

const times = (matrix: readonly number[], [a = 0, b = 0, c = 0]: readonly number[]): number[] =>
  [0, 3, 6].map((row) => (matrix[row] ?? 0) * a + (matrix[row + 1] ?? 0) * b + (matrix[row + 2] ?? 0) * c);

const linear = (colour: string): number[] =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });

function contrast(a: string, b: string): number {
  const [x = 0, y = 0] = [a, b]
    .map((colour) => times([0.2126, 0.7152, 0.0722, 0, 0, 0, 0, 0, 0], linear(colour))[0] ?? 0)
    .sort((one, other) => other - one);
  return (x + 0.05) / (y + 0.05);
}

/** In OKLab. */
function distance(a: string, b: string, vision: readonly number[]): number {
  const lab = (colour: string): number[] => {
    const seen = times(vision, linear(colour)).map((value) => Math.min(1, Math.max(0, value)));
    const cones = times(
      [
        0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376,
        0.6299787005,
      ],
      seen,
    ).map(Math.cbrt);
    return times(
      [
        0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662,
        -0.808675766,
      ],
      cones,
    );
  };
  const other = lab(b);
  return Math.hypot(...lab(a).map((value, at) => value - (other[at] ?? 0)));
}
