/** Edges between the nodes 0 … `order` - 1. */
export interface Network {
  readonly order: number;
  readonly source: readonly number[];
  readonly target: readonly number[];
  readonly weight: readonly number[];
}

/** More members than this are divided again, as far as the edges give a reason. */
const LARGEST = 400;
/** Smaller communities are put together: alone they would be specks. */
const SMALLEST = 8;
const BIN = 150;

/** Groups nodes that are closely connected; each node is in one group, and the same network gives the same groups. */
export function groupNodes(network: Network): readonly (readonly number[])[] {
  const communities = membersOf(louvain(network));
  const large = communities.filter(({ length }) => length > LARGEST);
  const inside = new Map(parted(network, large).map((part, at) => [large[at], part]));
  const groups = communities.flatMap((members) => {
    const part = inside.get(members);
    return part === undefined ? [members] : divide(part, members);
  });
  const loose = groups.filter(({ length }) => length < SMALLEST).flat();
  const bins = Array.from({ length: Math.ceil(loose.length / BIN) }, (_, bin) =>
    loose.slice(bin * BIN, (bin + 1) * BIN),
  );
  return [...groups.filter(({ length }) => length >= SMALLEST), ...bins];
}

function divide(part: Network, members: readonly number[]): readonly (readonly number[])[] {
  const parts = membersOf(louvain(part)).map((nodes) => nodes.map((at) => members[at] as number));
  // Scraps of one large part say nothing by themselves.
  const whole = parts.filter(({ length }) => length >= SMALLEST);
  const rest = parts.filter(({ length }) => length < SMALLEST).flat();
  return whole.length < 2 ? [members] : [[...(whole[0] ?? []), ...rest], ...whole.slice(1)];
}

/** The parts of a network within each of some groups, whose nodes get the numbers of their places; in one pass over the edges. */
export function parted({ order, source, target, weight }: Network, groups: readonly (readonly number[])[]): Network[] {
  const group = new Int32Array(order).fill(-1);
  const place = new Int32Array(order);
  for (const [number, members] of groups.entries()) {
    for (const [at, node] of members.entries()) [group[node], place[node]] = [number, at];
  }
  const parts = groups.map(({ length }) => ({
    order: length,
    source: [] as number[],
    target: [] as number[],
    weight: [] as number[],
  }));
  for (let at = 0; at < source.length; at += 1) {
    const [from, to] = [source[at] as number, target[at] as number];
    if (group[from] !== group[to]) continue;
    const part = parts[group[from] as number];
    part?.source.push(place[from] as number);
    part?.target.push(place[to] as number);
    part?.weight.push(weight[at] as number);
  }
  return parts;
}

function membersOf(labels: Int32Array): number[][] {
  const groups: number[][] = [];
  for (const [node, label] of labels.entries()) {
    const group = groups[label];
    if (group === undefined) groups[label] = [node];
    else group.push(node);
  }
  return groups;
}

/** The method of Louvain (Blondel and others, 2008): moves nodes to the group of their neighbours, then groups to groups. */
function louvain(network: Network): Int32Array {
  const labels = Int32Array.from({ length: network.order }, (_, node) => node);
  let level = network;
  for (let round = 0; round < 10; round += 1) {
    const next = moveNodes(level);
    const count = Math.max(-1, ...next) + 1;
    if (count === level.order) break;
    for (let node = 0; node < labels.length; node += 1) labels[node] = next[labels[node] as number] as number;
    level = folded(level, next, count);
  }
  return labels;
}

const MAX_PASSES = 10;

function moveNodes({ order, source, target, weight }: Network): Int32Array {
  const { starts, ends, weights } = adjacency({ order, source, target, weight });
  const strength = new Float64Array(order);
  for (let at = 0; at < source.length; at += 1) {
    for (const node of [source[at], target[at]])
      strength[node as number] = (strength[node as number] ?? 0) + (weight[at] ?? 0);
  }
  const twice = strength.reduce((sum, value) => sum + value, 0) || 1;
  const label = Int32Array.from({ length: order }, (_, node) => node);
  const total = Float64Array.from(strength);
  const toward = new Float64Array(order);
  for (let pass = 0, moves = order; pass < MAX_PASSES && moves > order / 1000; pass += 1) {
    moves = 0;
    for (let node = 0; node < order; node += 1) {
      const own = label[node] as number;
      const near: number[] = [];
      for (let at = starts[node] as number; at < (starts[node + 1] as number); at += 1) {
        const other = label[ends[at] as number] as number;
        if (toward[other] === 0) near.push(other);
        toward[other] = (toward[other] as number) + (weights[at] as number);
      }
      const weightOfNode = strength[node] as number;
      total[own] = (total[own] as number) - weightOfNode;
      let best = own;
      let most = (toward[own] as number) - (weightOfNode * (total[own] as number)) / twice;
      for (const other of near) {
        const gain = (toward[other] as number) - (weightOfNode * (total[other] as number)) / twice;
        if (gain > most + 1e-9) [best, most] = [other, gain];
      }
      total[best] = (total[best] as number) + weightOfNode;
      if (best !== own) moves += 1;
      label[node] = best;
      for (const other of near) toward[other] = 0;
    }
  }
  return numbered(label);
}

/** Neighbours of each node one after the other; those of `node` stand from `starts[node]` to `starts[node + 1]`. */
function adjacency({ order, source, target, weight }: Network) {
  const starts = new Int32Array(order + 2);
  const count = (node: number) => {
    starts[node + 2] = (starts[node + 2] as number) + 1;
  };
  for (let at = 0; at < source.length; at += 1) {
    if (source[at] === target[at]) continue;
    count(source[at] as number);
    count(target[at] as number);
  }
  for (let node = 2; node < starts.length; node += 1) {
    starts[node] = (starts[node] as number) + (starts[node - 1] as number);
  }
  const ends = new Int32Array(starts[order + 1] as number);
  const weights = new Float64Array(ends.length);
  const put = (from: number, to: number, value: number) => {
    const place = starts[from + 1] as number;
    ends[place] = to;
    weights[place] = value;
    starts[from + 1] = place + 1;
  };
  for (let at = 0; at < source.length; at += 1) {
    const [from, to, value] = [source[at] as number, target[at] as number, weight[at] as number];
    if (from === to) continue;
    put(from, to, value);
    put(to, from, value);
  }
  return { starts, ends, weights };
}

function numbered(labels: Int32Array): Int32Array {
  const numbers = new Map<number, number>();
  return labels.map((label) => {
    const number = numbers.get(label) ?? numbers.size;
    numbers.set(label, number);
    return number;
  });
}

/** The network between groups; edges within a group become one edge of the group with itself. */
export function folded({ order, source, target, weight }: Network, labels: ArrayLike<number>, count: number): Network {
  const sums = new Map<number, number>();
  for (let at = 0; at < source.length; at += 1) {
    const from = labels[source[at] as number] as number;
    const to = labels[target[at] as number] as number;
    const key = Math.min(from, to) * order + Math.max(from, to);
    sums.set(key, (sums.get(key) ?? 0) + (weight[at] as number));
  }
  const keys = [...sums.keys()];
  return {
    order: count,
    source: keys.map((key) => Math.floor(key / order)),
    target: keys.map((key) => key % order),
    weight: [...sums.values()],
  };
}
