import {
  Alert,
  Autocomplete,
  Button,
  Checkbox,
  Group,
  Menu,
  ScrollArea,
  Select,
  Stack,
  Text,
  useComputedColorScheme,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Drawing, draw } from '../../pages/graph/drawing.ts';
import { paletteFor } from '../../pages/graph/palette.ts';
import {
  countGroups,
  type GraphNode,
  type GraphView,
  groupOf,
  nodeFinder,
  withoutRepeats,
} from '../../pages/graph/view-model.ts';
import { engram } from '../api.ts';
import { DocumentDrawer, type OpenedDocument } from '../document.tsx';
import { count, plural } from '../format.ts';
import { IconDownload, IconSearch, IconX } from '../icons.ts';
import { datasetsQuery } from '../queries.ts';
import { LinkButton, PageTitle } from '../shell.tsx';
import { complain, Empty, Failed, Waiting } from '../states.tsx';
import { NodeDetails } from './details.tsx';
import { graphml, save } from './export.ts';

/** A larger graph is shown by its most connected part: more does not draw well. */
const MOST_NODES = 5000;
const MAX_HITS = 12;
const NO_DATASETS: readonly never[] = [];

export function GraphPage() {
  const { dataset } = useSearch({ from: '/graph' });
  const navigate = useNavigate({ from: '/graph' });
  const datasets = useQuery(datasetsQuery);
  const known = datasets.data ?? NO_DATASETS;
  const chosen = known.find(({ id }) => id === dataset) ?? (dataset === undefined ? known[0] : undefined);
  if (datasets.isPending) return <Waiting />;
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

interface Loaded {
  readonly view: GraphView;
  readonly total: number;
}

async function load(dataset: string, name: string, node: string | undefined): Promise<Loaded> {
  const [summary] = await engram.get('/api/v1/datasets/graph-summary', { query: { dataset_ids: [dataset] } });
  const total = summary?.numNodes ?? 0;
  const query =
    node !== undefined
      ? { seed_node_ids: [node], neighborhood_depth: 2, max_nodes: 500 }
      : total <= MOST_NODES
        ? { full: true }
        : { neighborhood_seed_top_k: 100, neighborhood_depth: 10, max_nodes: MOST_NODES };
  const answer = await engram.get('/api/v1/visualize/json', { query: { dataset_id: dataset, ...query } });
  return { view: withoutRepeats({ ...answer, dataset: name } as unknown as GraphView), total };
}

function DatasetGraph({ dataset, name }: { readonly dataset: string; readonly name: string }) {
  const { node } = useSearch({ from: '/graph' });
  const navigate = useNavigate({ from: '/graph' });
  const loaded = useQuery({
    queryKey: ['graph', dataset, node],
    queryFn: () => load(dataset, name, node),
    staleTime: 60_000,
  });
  if (loaded.isPending) return <Waiting label="Loading the graph" />;
  if (loaded.isError) return <Failed error={loaded.error} onRetry={() => void loaded.refetch()} />;
  const { view, total } = loaded.data;
  if (view.nodes.length === 0) {
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
  const centre = node === undefined ? undefined : view.nodes.find(({ id }) => id === node);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          {centre === undefined ? '' : `Around ${centre.name}: `}
          {plural(view.nodes.length, 'node')}, {plural(view.links.length, 'edge')}
          {node === undefined && total > MOST_NODES ? `. The most connected of ${count(total)} nodes` : ''}
        </Text>
        {node === undefined ? null : (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconX size={14} />}
            onClick={() => void navigate({ search: (all) => ({ ...all, node: undefined }) })}
          >
            Whole graph
          </Button>
        )}
      </Group>
      <Stage key={node ?? 'all'} view={view} dataset={dataset} selectedAtFirst={centre?.id ?? null} />
    </Stack>
  );
}

interface StageProps {
  readonly view: GraphView;
  readonly dataset: string;
  readonly selectedAtFirst: string | null;
}

const hasWebGl = (): boolean => document.createElement('canvas').getContext('webgl2') !== null;

function Stage({ view, dataset, selectedAtFirst }: StageProps) {
  const navigate = useNavigate({ from: '/graph' });
  const dark = useComputedColorScheme('light') === 'dark';
  const container = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing>(null);
  const groups = useMemo(() => countGroups(view.nodes), [view]);
  const colours = useMemo(() => paletteFor([...groups.keys()], dark), [groups, dark]);
  const nodes = useMemo(() => new Map(view.nodes.map((node) => [node.id, node])), [view]);
  const find = useMemo(() => nodeFinder(view.nodes), [view]);
  // Every entity hangs on its type, and the colours tell types already: they are shown when asked for.
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => new Set(groups.size > 1 ? ['Entity type'] : []));
  const [selected, setSelected] = useState(selectedAtFirst);
  const [settled, setSettled] = useState(false);
  const [opened, setOpened] = useState<OpenedDocument | null>(null);
  const [canDraw] = useState(hasWebGl);

  const visible = useMemo(
    () =>
      hidden.size === 0 ? null : new Set(view.nodes.filter((node) => !hidden.has(groupOf(node))).map(({ id }) => id)),
    [view, hidden],
  );
  const first = useRef({ paint: { colours, dark }, visible, selected });

  useEffect(() => {
    if (container.current === null || !canDraw) return;
    const { selected: node, ...atFirst } = first.current;
    const drawn = draw(view, container.current, {
      ...atFirst,
      onSelect: setSelected,
      onSettled: () => setSettled(true),
    });
    drawn.select(node);
    drawing.current = drawn;
    return () => {
      drawing.current = null;
      drawn.kill();
    };
  }, [view, canDraw]);
  useEffect(() => drawing.current?.filter(visible), [visible]);
  useEffect(() => drawing.current?.repaint({ colours, dark }), [colours, dark]);
  useEffect(() => drawing.current?.select(selected), [selected]);

  const open = (node: string) => {
    setSelected(node);
    drawing.current?.focus(node, 0);
  };
  const toggle = (group: string) =>
    setHidden((all) => {
      const next = new Set(all);
      if (!next.delete(group)) next.add(group);
      return next;
    });
  const picture = async () => {
    try {
      if (drawing.current !== null) save(await drawing.current.picture(), `${view.dataset}.png`);
    } catch (error) {
      complain(error);
    }
  };
  const node = selected === null ? undefined : nodes.get(selected);

  return (
    <>
      <Group gap="xs" justify="space-between">
        <Finder find={find} onOpen={open} />
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" leftSection={<IconDownload size={16} />}>
              Export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void picture()} disabled={!canDraw}>
              Picture (PNG)
            </Menu.Item>
            <Menu.Item
              onClick={() =>
                save(new Blob([JSON.stringify(view, null, 2)], { type: 'application/json' }), `${view.dataset}.json`)
              }
            >
              Data (JSON)
            </Menu.Item>
            <Menu.Item
              onClick={() => save(new Blob([graphml(view)], { type: 'application/xml' }), `${view.dataset}.graphml`)}
            >
              Graph file (GraphML)
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
      {canDraw ? null : (
        <Alert color="yellow">
          This browser has no WebGL, which draws the graph. Searching and exporting it works.
        </Alert>
      )}
      <div className="graph">
        <div className="stage" data-settled={settled}>
          <div ref={container} role="img" aria-label={`Graph of ${view.dataset}. Find nodes by the search above.`} />
        </div>
        <ScrollArea.Autosize className="side" mah="calc(100dvh - 190px)" type="auto">
          {node === undefined ? (
            <Legend groups={groups} colours={colours} hidden={hidden} onToggle={toggle} />
          ) : (
            <NodeDetails
              node={node}
              view={view}
              nodes={nodes}
              onOpen={open}
              onClose={() => setSelected(null)}
              onCentre={(id) => void navigate({ search: (all) => ({ ...all, node: id }) })}
              onDocument={(document) => setOpened({ dataset, ...document })}
            />
          )}
        </ScrollArea.Autosize>
      </div>
      <DocumentDrawer opened={opened} onClose={() => setOpened(null)} />
    </>
  );
}

interface FinderProps {
  find(text: string, limit: number): readonly GraphNode[];
  onOpen(node: string): void;
}

function Finder({ find, onOpen }: FinderProps) {
  const [text, setText] = useState('');
  const hits = find(text, MAX_HITS);
  return (
    <Autocomplete
      aria-label="Find a node"
      placeholder="Find a name or a text"
      leftSection={<IconSearch size={16} />}
      flex={1}
      maw={420}
      value={text}
      onChange={setText}
      data={hits.map(({ id, name }) => ({ value: id, label: name.slice(0, 80) }))}
      filter={({ options }) => options}
      renderOption={({ option }) => {
        const node = hits.find(({ id }) => id === option.value);
        return (
          <Group justify="space-between" wrap="nowrap" w="100%" gap="xs">
            <Text size="sm" className="clip">
              {node?.name}
            </Text>
            <Text size="xs" c="dimmed">
              {node === undefined ? '' : groupOf(node)}
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

interface LegendProps {
  readonly groups: ReadonlyMap<string, number>;
  readonly colours: ReadonlyMap<string, string>;
  readonly hidden: ReadonlySet<string>;
  onToggle(group: string): void;
}

function Legend({ groups, colours, hidden, onToggle }: LegendProps) {
  return (
    <Stack gap={6} component="fieldset" p={0} m={0} bd="none">
      <Text component="legend" size="sm" fw={600} mb={4}>
        Types
      </Text>
      {[...groups].map(([group, number]) => (
        <Group key={group} gap="xs" wrap="nowrap" justify="space-between">
          <Checkbox
            size="xs"
            checked={!hidden.has(group)}
            onChange={() => onToggle(group)}
            label={
              <Group gap={6} wrap="nowrap">
                <span className="dot" style={{ background: colours.get(group) }} />
                {group}
              </Group>
            }
          />
          <Text size="xs" c="dimmed">
            {count(number)}
          </Text>
        </Group>
      ))}
      <Text size="xs" c="dimmed" mt="xs">
        Click a node for its facts and where they are stated.
      </Text>
    </Stack>
  );
}
