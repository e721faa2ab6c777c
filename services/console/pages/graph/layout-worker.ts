/** Finds the positions of a graph away from the page, which stays usable meanwhile. */
import { type Network, parted } from './communities.ts';
import { arrangeCluster, type Cluster, fill, type Place, placeClusters, relax } from './layout.ts';

export interface LayoutRequest extends Network {
  /** Whether it is too large to be arranged as one. */
  readonly isLarge: boolean;
  /** Positions of nodes that were drawn before, to begin with. */
  readonly known: ReadonlyMap<number, Place>;
}

export interface LayoutAnswer {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Present for a large graph, with the first positions. */
  readonly clusters?: readonly Cluster[];
  readonly isDone: boolean;
}

const answer = (message: LayoutAnswer): void => self.postMessage(message);

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  if (data.isLarge) arrangeClusters(data);
  else arrangeWhole(data);
};

function arrangeWhole(request: LayoutRequest): void {
  const rounds = request.order < 2 ? 0 : request.order > 400 ? 250 : 420;
  let last: readonly Place[] = [];
  for (const places of relax(request, rounds, request.known)) {
    last = places;
    answer({ ...coordinates(places), isDone: false });
  }
  answer({ ...coordinates(last), isDone: true });
}

function arrangeClusters(request: LayoutRequest): void {
  const clusters = placeClusters(request);
  const places: Place[] = new Array(request.order);
  const put = ({ members }: Cluster, found: readonly Place[]) => {
    for (const [at, node] of members.entries()) places[node] = found[at] as Place;
  };
  for (const cluster of clusters) put(cluster, fill(cluster));
  answer({ ...coordinates(places), clusters, isDone: false });
  // Once for all: to draw so many new positions takes a moment of the page's time.
  const parts = parted(
    request,
    clusters.map(({ members }) => members),
  );
  for (const [number, cluster] of clusters.entries()) {
    put(cluster, arrangeCluster(parts[number] as Network, cluster));
  }
  answer({ ...coordinates(places), isDone: true });
}

function coordinates(places: readonly Place[]): { readonly x: Float32Array; readonly y: Float32Array } {
  return { x: Float32Array.from(places, ({ x }) => x), y: Float32Array.from(places, ({ y }) => y) };
}
