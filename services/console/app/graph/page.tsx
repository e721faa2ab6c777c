import { Alert, Autocomplete, Button, Group, Menu, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import type { Drawing } from '../../pages/graph/drawing.ts';
import {
  type GraphNode,
  type GraphView,
  groupsOf,
  kindOf,
  neighbourhoodOf,
  nodeFinder,
  type PackedGraph,
  unpacked,
} from '../../pages/graph/view-model.ts';
import { engram } from '../api.ts';
import { plural } from '../format.ts';
import { IconDownload, IconSearch, IconX } from '../icons.ts';
import { datasetsQuery, useUsualDataset } from '../queries.ts';
import { LinkButton, PageTitle } from '../shell.tsx';
import { attempt, Empty, Failed, Waiting } from '../states.tsx';
import { type Near, readTexts } from './evidence.ts';
import { hasWebGl, Stage } from './stage.tsx';

/** A larger neighbourhood says no more than the whole graph. */
const MOST_NEIGHBOURS = 1000;
const MAX_HITS = 12;
const NO_DATASETS: readonly never[] = [];

export function GraphPage() {
  const { dataset } = useSearch({ from: '/graph' });
  const navigate = useNavigate({ from: '/graph' });
  const datasets = useQuery(datasetsQuery);
  const known = datasets.data ?? NO_DATASETS;
  const usual = useUsualDataset(known);
  const chosen = known.find(({ id }) => id === dataset) ?? (dataset === undefined ? usual : undefined);
  if (datasets.isPending || chosen === null) return <Waiting />;
  if (datasets.isError) return <Failed error={datasets.error} onRetry={() => void datasets.refetch()} />;
  return (
    <>
      <PageTitle title="Graph">
        {known.length === 0 ? null : (
          <Select
            aria-label="Dataset"
            placeholder="Choose a dataset"
            data={known.map(({ id, name }) => ({ value: id, label: name }))}
            value={chosen?.id ?? null}
            onChange={(value) => void navigate({ search: { dataset: value ?? undefined } })}
            allowDeselect={false}
            searchable={known.length > 8}
          />
        )}
      </PageTitle>
      {known.length === 0 ? (
        <Empty title="There is no graph yet" action={<LinkButton to="/datasets">Add documents</LinkButton>}>
          Add documents to a dataset and build it. Its people, places, things and how they belong together appear here.
        </Empty>
      ) : chosen === undefined ? (
        <Empty title="There is no such dataset">It was deleted, or it was not shared with you.</Empty>
      ) : (
        <DatasetGraph key={chosen.id} dataset={chosen.id} name={chosen.name} />
      )}
    </>
  );
}

function DatasetGraph({ dataset, name }: { readonly dataset: string; readonly name: string }) {
  const { node = '', depth = 1 } = useSearch({ from: '/graph' });
  const navigate = useNavigate({ from: '/graph' });
  const loaded = useQuery({
    queryKey: ['graph', dataset],
    queryFn: async () =>
      unpacked(
        (await engram.get('/api/v1/visualize/drawing', { query: { dataset_id: dataset } })) as unknown as PackedGraph,
        name,
      ),
    staleTime: 60_000,
    structuralSharing: false,
  });
  const whole = loaded.data;
  const find = useMemo(() => nodeFinder(whole?.nodes ?? []), [whole]);
  const groups = useMemo(() => groupsOf(whole?.nodes ?? []), [whole]);
  const centres = useMemo(
    () => node.split(',').filter((id) => whole?.nodes.some((each) => each.id === id)),
    [node, whole],
  );
  const view = useMemo(
    () =>
      whole === undefined || centres.length === 0 ? whole : neighbourhoodOf(whole, centres, depth, MOST_NEIGHBOURS),
    [whole, centres, depth],
  );
  const drawing = useRef<Drawing>(null);
  const [asked, setAsked] = useState<{ readonly node: string } | null>(null);
  if (loaded.isPending) return <Waiting label="Loading the graph" />;
  if (loaded.isError) return <Failed error={loaded.error} onRetry={() => void loaded.refetch()} />;
  if (view === undefined || loaded.data.nodes.length === 0) {
    return (
      <Empty
        title="This dataset has no graph yet"
        action={
          <LinkButton to="/datasets/$dataset" params={{ dataset }}>
            Open the dataset
          </LinkButton>
        }
      >
        Add documents to it, and press Build.
      </Empty>
    );
  }
  const names = centres.map((id) => loaded.data.nodes.find((each) => each.id === id)?.name.slice(0, 40));
  const go = (ids: readonly string[], steps = depth) =>
    void navigate({
      search: (all) => ({ ...all, node: ids.join(',') || undefined, depth: ids.length === 0 ? undefined : steps }),
    });
  const openNode = (id: string) => {
    // Where it is not within the neighbourhood, the neighbourhood becomes its own.
    if (view.nodes.some((each) => each.id === id)) setAsked({ node: id });
    else go([id]);
  };
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Finder find={find} onOpen={openNode} />
        <Group gap="xs" ml="auto">
          <Export
            dataset={dataset}
            view={view}
            near={centres.length === 0 ? null : { centres, depth }}
            drawing={drawing}
          />
        </Group>
      </Group>
      <Group gap="xs" mih={30}>
        <Text size="sm" c="dimmed" aria-live="polite">
          {centres.length === 0 ? '' : `Around ${names.slice(0, 3).join(', ')}${names.length > 3 ? ' …' : ''}: `}
          {plural(view.nodes.length, 'node')}, {plural(view.links.length, 'edge')}
        </Text>
        {centres.length === 0 ? null : (
          <>
            <SegmentedControl
              size="xs"
              aria-label="Steps away"
              data={[
                { value: '1', label: '1 step' },
                { value: '2', label: '2 steps' },
                { value: '3', label: '3 steps' },
              ]}
              value={String(depth)}
              onChange={(value) => go(centres, Number(value))}
            />
            <Button size="compact-sm" variant="default" leftSection={<IconX size={14} />} onClick={() => go([])}>
              Whole graph
            </Button>
          </>
        )}
      </Group>
      {hasWebGl() ? null : (
        <Alert color="yellow">
          This browser has no WebGL, which draws the graph. The list of nodes, the search and the export work.
        </Alert>
      )}
      <Stage
        view={view}
        groups={groups}
        dataset={dataset}
        centres={centres}
        asked={asked}
        drawing={drawing}
        onCentre={(id) => go([id])}
        onExpand={(id) => go([...centres.filter((each) => each !== id), id])}
      />
    </Stack>
  );
}

interface FinderProps {
  find(text: string, limit: number): readonly GraphNode[];
  onOpen(node: string): void;
}

function Finder({ find, onOpen }: FinderProps) {
  const [text, setText] = useState('');
  const hits = useMemo(() => find(text, MAX_HITS), [find, text]);
  return (
    <Autocomplete
      aria-label="Find a node"
      placeholder="Find a node by its name"
      leftSection={<IconSearch size={16} />}
      flex={1}
      maw={420}
      value={text}
      onChange={setText}
      data={hits.map(({ id, name }) => ({ value: id, label: name }))}
      filter={({ options }) => options}
      renderOption={({ option }) => {
        const node = hits.find(({ id }) => id === option.value);
        return (
          <Group justify="space-between" wrap="nowrap" w="100%" gap="xs">
            <Text size="sm" className="clip">
              {node?.name}
            </Text>
            <Text size="xs" c="dimmed">
              {node === undefined ? '' : kindOf(node)}
            </Text>
          </Group>
        );
      }}
      onOptionSubmit={(id) => {
        onOpen(id);
        // After the field has taken the label of the option over.
        setTimeout(() => setText(''));
      }}
      selectFirstOptionOnChange
      clearable
    />
  );
}

interface ExportProps {
  readonly dataset: string;
  readonly view: GraphView;
  readonly near: Near | null;
  readonly drawing: { readonly current: Drawing | null };
}

/** Files hold what the picture leaves out: descriptions, texts and evidence. */
function Export({ dataset, view, near, drawing }: ExportProps) {
  const [busy, setBusy] = useState(false);
  const name = view.dataset;
  const write = async (ending: string, make: () => Promise<Blob>) => {
    setBusy(true);
    await attempt(async () => save(await make(), `${name}.${ending}`), `${name}.${ending} was saved`);
    setBusy(false);
  };
  const texts = async () => ({ ...(await readTexts(dataset, near)), dataset: name });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />} loading={busy}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          disabled={!hasWebGl()}
          onClick={() => void write('png', async () => (await drawing.current?.picture()) ?? new Blob())}
        >
          Picture (PNG)
        </Menu.Item>
        <Menu.Item
          onClick={() =>
            void write('json', async () => new Blob([JSON.stringify(await texts())], { type: 'application/json' }))
          }
        >
          Data (JSON)
        </Menu.Item>
        <Menu.Item
          onClick={() =>
            void write('graphml', async () => new Blob([graphml(await texts())], { type: 'application/xml' }))
          }
        >
          Graph file (GraphML)
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Offers a file to the person. */
function save(content: Blob, name: string): void {
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
function graphml({ nodes, links }: GraphView): string {
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
