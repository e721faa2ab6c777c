import {
  ActionIcon,
  Box,
  Button,
  Checkbox,
  Group,
  RangeSlider,
  Stack,
  Switch,
  Tabs,
  Text,
  UnstyledButton,
  useComputedColorScheme,
} from '@mantine/core';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { type Drawing, draw } from '../../pages/graph/drawing.ts';
import type { Place } from '../../pages/graph/layout.ts';
import { paletteFor } from '../../pages/graph/palette.ts';
import {
  barsOf,
  countsIn,
  datesIn,
  type GraphNode,
  type GraphView,
  type Groups,
  kindOf,
  nodeFinder,
  type Period,
  periodBetween,
  type Shown,
  shownOf,
} from '../../pages/graph/view-model.ts';
import { DocumentDrawer, type OpenedDocument } from '../document.tsx';
import { count } from '../format.ts';
import { IconMaximize, IconMinus, IconPlus } from '../icons.ts';
import { complain } from '../states.tsx';
import { NodeDetails, type OpenSource } from './details.tsx';
import { readPassage } from './evidence.ts';

export const hasWebGl = (() => {
  let known: boolean | undefined;
  return (): boolean => {
    known ??= document.createElement('canvas').getContext('webgl2') !== null;
    return known;
  };
})();

interface StageProps {
  readonly view: GraphView;
  /** Types of the whole graph, so that a type keeps its colour. */
  readonly groups: Groups;
  readonly dataset: string;
  /** The nodes around which the view is, none for a whole graph. */
  readonly centres: readonly string[];
  /** The node that the person looks for; a new object for each time. */
  readonly asked: { readonly node: string } | null;
  readonly drawing: RefObject<Drawing | null>;
  onCentre(node: string): void;
  onExpand(node: string): void;
}

const NO_PATH: readonly string[] = [];

/** The picture with its legend, its time and the details of a node. */
export function Stage({ view, groups, dataset, centres, asked, drawing, onCentre, onExpand }: StageProps) {
  const dark = useComputedColorScheme('light') === 'dark';
  const counts = useMemo(() => countsIn(groups, view.nodes), [groups, view]);
  const colours = useMemo(() => paletteFor([...groups.counts.keys()], dark), [groups, dark]);
  const nodes = useMemo(() => new Map(view.nodes.map((node) => [node.id, node])), [view]);
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const hidden = useMemo(
    () => new Set([...groups.counts.keys()].filter((group) => changed.get(group) ?? groups.hiddenAtFirst.has(group))),
    [groups, changed],
  );
  const [period, setPeriod] = useState<Period | null>(null);
  const [withUndated, setWithUndated] = useState(false);
  const [selected, setSelected] = useState<string | null>(centres.at(-1) ?? null);
  const [path, setPath] = useState(NO_PATH);
  const [opened, setOpened] = useState<OpenedDocument | null>(null);
  const shown = useMemo(
    () => shownOf(view, groups, { hidden, period, withUndated }),
    [view, groups, hidden, period, withUndated],
  );
  const select = (node: string | null) => {
    setSelected(node);
    setPath(NO_PATH);
  };
  const open = (node: string) => {
    select(node);
    drawing.current?.focus(node);
  };
  useEffect(() => {
    if (asked === null) return;
    setSelected(asked.node);
    setPath(NO_PATH);
    drawing.current?.focus(asked.node);
  }, [asked, drawing]);
  const newest = centres.at(-1);
  useEffect(() => {
    if (newest !== undefined) setSelected(newest);
  }, [newest]);

  const openSource: OpenSource = ({ chunk, item, text }) => {
    if (item !== undefined) {
      setOpened({ dataset, item, name: nodes.get(item)?.name ?? '' });
      return;
    }
    readPassage(dataset, chunk ?? '').then((passage) => {
      if (passage?.document_id === undefined) throw new Error('The passage is no longer there.');
      const marked = text !== undefined && passage.text?.includes(text) ? text : (passage.text ?? '');
      setOpened({ dataset, item: passage.document_id, name: passage.document_name ?? '', passage: marked });
    }, complain);
  };
  const find = useMemo(() => nodeFinder(view.nodes), [view]);
  const node = selected === null ? undefined : nodes.get(selected);

  return (
    <>
      <div className="graph">
        <Stack gap="xs" miw={0}>
          <Picture
            {...{ view, groups, colours, dark, shown, selected, path, drawing }}
            keep={centres.length > 0}
            onSelect={select}
            onExpand={onExpand}
          />
          <TimeSlider view={view} onChange={setPeriod} withUndated={withUndated} onUndated={setWithUndated} />
        </Stack>
        <div className="side">
          {node === undefined ? (
            <Tabs defaultValue="types" keepMounted={false}>
              <Tabs.List grow mb="xs">
                <Tabs.Tab value="types">Types</Tabs.Tab>
                <Tabs.Tab value="nodes">Nodes</Tabs.Tab>
              </Tabs.List>
              <Tabs.Panel value="types">
                <Legend
                  counts={counts}
                  rest={groups.rest}
                  colours={colours}
                  hidden={hidden}
                  onToggle={(group) => setChanged((all) => new Map([...all, [group, !hidden.has(group)]]))}
                />
              </Tabs.Panel>
              <Tabs.Panel value="nodes">
                <NodeList view={view} shown={shown} onOpen={open} />
              </Tabs.Panel>
            </Tabs>
          ) : (
            <NodeDetails
              key={node.id}
              {...{ dataset, node, view, nodes, find }}
              onOpen={open}
              onClose={() => select(null)}
              onCentre={onCentre}
              onExpand={centres.length === 0 ? undefined : onExpand}
              onPath={setPath}
              onSource={openSource}
            />
          )}
        </div>
      </div>
      <DocumentDrawer opened={opened} onClose={() => setOpened(null)} />
    </>
  );
}

interface PictureProps extends Pick<StageProps, 'view' | 'groups' | 'drawing' | 'onExpand'> {
  readonly colours: ReadonlyMap<string, string>;
  readonly dark: boolean;
  readonly shown: Shown;
  readonly selected: string | null;
  readonly path: readonly string[];
  /** Whether nodes that were drawn before stay where they are. */
  readonly keep: boolean;
  onSelect(node: string | null): void;
}

function Picture({
  view,
  groups,
  colours,
  dark,
  shown,
  selected,
  path,
  keep,
  drawing,
  onSelect,
  onExpand,
}: PictureProps) {
  const container = useRef<HTMLDivElement>(null);
  const [settled, setSettled] = useState(false);
  const places = useRef<ReadonlyMap<string, Place>>(new Map());
  // The first picture; the effects below tell the drawing of changes.
  const now = useRef({ paint: { colours, dark }, shown, selected, keep, onSelect, onExpand });
  now.current = { paint: { colours, dark }, shown, selected, keep, onSelect, onExpand };

  useEffect(() => {
    if (container.current === null || !hasWebGl()) return;
    let isGone = false;
    setSettled(false);
    const stage = document.createElement('div');
    container.current.replaceChildren(stage);
    const first = now.current;
    const drawn = draw(view, stage, {
      groups,
      ...first,
      known: first.keep ? places.current : new Map(),
      onSelect: (node) => now.current.onSelect(node),
      onExpand: (node) => now.current.onExpand(node),
      onSettled: () => {
        if (!isGone) setSettled(true);
      },
    });
    drawn.then((made) => {
      if (isGone) return;
      drawing.current = made;
      // Applies what has changed since the drawing began.
      const { paint, shown: filtered, selected: node } = now.current;
      if (paint.colours !== first.paint.colours) made.repaint(paint);
      if (filtered !== first.shown) made.filter(filtered);
      if (node !== first.selected) made.select(node);
    }, complain);
    return () => {
      isGone = true;
      drawing.current = null;
      void drawn.then((made) => {
        places.current = now.current.keep ? made.positions() : new Map();
        made.kill();
      });
    };
  }, [view, groups, drawing]);
  useEffect(() => drawing.current?.filter(shown), [shown, drawing]);
  useEffect(() => drawing.current?.repaint({ colours, dark }), [colours, dark, drawing]);
  useEffect(() => drawing.current?.select(selected), [selected, drawing]);
  useEffect(() => drawing.current?.mark(path), [path, drawing]);

  return (
    <div className="stage" data-settled={settled}>
      <div
        ref={container}
        role="img"
        aria-label={`Graph of ${view.dataset}. Its nodes are listed beside it, under Nodes.`}
      />
      <ActionIcon.Group orientation="vertical" className="zoom">
        <ActionIcon variant="default" aria-label="Zoom in" onClick={() => drawing.current?.zoom(1.8)}>
          <IconPlus size={16} />
        </ActionIcon>
        <ActionIcon variant="default" aria-label="Zoom out" onClick={() => drawing.current?.zoom(1 / 1.8)}>
          <IconMinus size={16} />
        </ActionIcon>
        <ActionIcon variant="default" aria-label="Show all" onClick={() => drawing.current?.fit()}>
          <IconMaximize size={16} />
        </ActionIcon>
      </ActionIcon.Group>
    </div>
  );
}

interface LegendProps {
  readonly counts: ReadonlyMap<string, number>;
  readonly rest: readonly string[];
  readonly colours: ReadonlyMap<string, string>;
  readonly hidden: ReadonlySet<string>;
  onToggle(group: string): void;
}

function Legend({ counts, rest, colours, hidden, onToggle }: LegendProps) {
  return (
    <Stack gap={6} component="fieldset" p={0} m={0} bd="none" aria-label="Types">
      {[...counts].map(([group, number]) => (
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
            description={
              group === 'Other types'
                ? `${rest.slice(0, 8).join(', ')}${rest.length > 8 ? ` and ${rest.length - 8} more` : ''}`
                : undefined
            }
          />
          <Text size="xs" c="dimmed">
            {count(number)}
          </Text>
        </Group>
      ))}
      <Text size="xs" c="dimmed" mt="xs">
        Click a node for its facts and where they are stated. A double click shows only what is near it.
      </Text>
    </Stack>
  );
}

const LISTED = 100;

/** The nodes in words, for keyboards and screen readers: the best connected first. */
function NodeList({
  view,
  shown,
  onOpen,
}: {
  readonly view: GraphView;
  readonly shown: Shown;
  onOpen(node: string): void;
}) {
  const [most, setMost] = useState(LISTED);
  const list = useMemo(
    () => view.nodes.filter((_, at) => shown.nodes[at] === 1).sort((a, b) => b.degree - a.degree),
    [view, shown],
  );
  return (
    <Stack gap={2} component="ul" p={0} m={0} aria-label="Nodes" style={{ listStyle: 'none' }}>
      {list.slice(0, most).map((node: GraphNode) => (
        <li key={node.id}>
          <UnstyledButton className="row" onClick={() => onOpen(node.id)}>
            <Text size="sm" className="clip">
              {node.name}
            </Text>
            <Text size="xs" c="dimmed">
              {kindOf(node)}
            </Text>
          </UnstyledButton>
        </li>
      ))}
      {list.length > most ? (
        <li>
          <Button variant="subtle" size="compact-xs" onClick={() => setMost(most + LISTED)}>
            Show more of {count(list.length)}
          </Button>
        </li>
      ) : null}
    </Stack>
  );
}

interface TimeSliderProps {
  readonly view: GraphView;
  readonly withUndated: boolean;
  onChange(period: Period | null): void;
  onUndated(withUndated: boolean): void;
}

/** Chooses a time by the dates that the facts have: each date is one step, however far it is from the next. */
function TimeSlider({ view, withUndated, onChange, onUndated }: TimeSliderProps) {
  const counts = useMemo(() => datesIn(view), [view]);
  const dates = useMemo(() => [...counts.keys()], [counts]);
  const bars = useMemo(() => barsOf(counts), [counts]);
  const last = dates.length - 1;
  const [range, setRange] = useState<[number, number]>([0, last]);
  useEffect(() => {
    setRange([0, last]);
    onChange(null);
  }, [last, onChange]);
  if (last < 1) return null;
  const nameOf = (at: number): string => (dates[at] ?? '').replace('/', ' – ');
  return (
    <Box className="time">
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm">
          <b>Time of the facts:</b> {nameOf(range[0])} to {nameOf(range[1])}
        </Text>
        <Switch
          size="xs"
          label="Also what has no date"
          checked={withUndated || (range[0] === 0 && range[1] === last)}
          disabled={range[0] === 0 && range[1] === last}
          onChange={({ currentTarget }) => onUndated(currentTarget.checked)}
        />
      </Group>
      <div className="bars" aria-hidden>
        {bars.map((height, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: bars have nothing but their place
          <span key={at} style={{ height: `${Math.max(6, height * 100)}%` }} />
        ))}
      </div>
      <RangeSlider
        size="sm"
        min={0}
        max={last}
        minRange={0}
        value={range}
        onChange={setRange}
        onChangeEnd={([low, high]) => onChange(periodBetween(dates, low, high))}
        label={null}
        thumbFromLabel="Earliest date"
        thumbToLabel="Latest date"
      />
    </Box>
  );
}
