import { ActionIcon, Anchor, Autocomplete, Box, Button, Group, List, Loader, Stack, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import {
  type GraphLink,
  type GraphNode,
  type GraphView,
  kindOf,
  type PathStep,
  shortestPath,
} from '../../pages/graph/view-model.ts';
import { messageOf } from '../api.ts';
import { IconFileText, IconPlus, IconTopologyStar3, IconX } from '../icons.ts';
import { useNodeTexts, usePathTexts } from './evidence.ts';

/** Opens the passage with this id, or a document, and marks the text in it. */
export type OpenSource = (source: { readonly chunk?: string; readonly item?: string; readonly text?: string }) => void;

interface DetailsProps {
  readonly dataset: string;
  readonly node: GraphNode;
  readonly view: GraphView;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  find(text: string, limit: number): readonly GraphNode[];
  onOpen(node: string): void;
  onClose(): void;
  onCentre(node: string): void;
  /** Adds what is near the node; not there when all of the graph is shown. */
  readonly onExpand: ((node: string) => void) | undefined;
  onPath(nodes: readonly string[]): void;
  readonly onSource: OpenSource;
}

/** Shows a node, the facts that touch it with the sentences that state them, and what else it hangs together with. */
export function NodeDetails({
  dataset,
  node,
  view,
  nodes,
  find,
  onOpen,
  onClose,
  onCentre,
  onExpand,
  onPath,
  onSource,
}: DetailsProps) {
  const texts = useNodeTexts(dataset, node.id);
  const own = useMemo(
    () => view.links.filter(({ source, target }) => source === node.id || target === node.id),
    [view, node.id],
  );
  const full = texts.data?.node;
  const links = texts.data === undefined ? own : joined(own, texts.data.links);
  const lists = { node, nodes, onOpen, onSource };
  const isPassage = node.type === 'DocumentChunk';
  return (
    <Stack gap="xs" component="section" aria-label={`Details of ${node.name.slice(0, 80)}`}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Box miw={0}>
          <Text size="xs" c="dimmed">
            {isPassage && full?.document_name ? `Passage in ${full.document_name}` : kindOf(node)}
          </Text>
          <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
            {isPassage || node.type === 'TextSummary' ? kindOf(node) : node.name}
          </Title>
        </Box>
        <ActionIcon variant="subtle" color="gray" onClick={onClose} aria-label="Close the details">
          <IconX size={16} />
        </ActionIcon>
      </Group>
      {texts.isPending ? <Loader size="xs" aria-label="Loading the texts" /> : null}
      {texts.isError ? <Text size="sm">{messageOf(texts.error)}</Text> : null}
      {full?.description && full.description !== node.name ? <Text size="sm">{full.description}</Text> : null}
      {full?.text ? (
        <Text size="sm" className="document" mah={220} style={{ overflow: 'auto' }} tabIndex={0}>
          {full.text}
        </Text>
      ) : null}
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconTopologyStar3 size={14} />}
          onClick={() => onCentre(node.id)}
        >
          Only what is near
        </Button>
        {onExpand === undefined ? null : (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => onExpand(node.id)}
          >
            Add what is near
          </Button>
        )}
        {node.type === 'TextDocument' || (isPassage && full !== undefined) ? (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconFileText size={14} />}
            onClick={() => onSource(isPassage ? { chunk: node.id } : { item: node.id })}
          >
            Open in the document
          </Button>
        ) : null}
      </Group>
      <PathFinder {...{ dataset, view, find, onPath }} {...lists} />
      <Links title="Facts" links={links.filter(({ edge_class }) => edge_class === 'semantic')} {...lists} />
      <Links title="Connected" links={links.filter(({ edge_class }) => edge_class !== 'semantic')} {...lists} />
    </Stack>
  );
}

const keyOf = ({ source, relation, target }: GraphLink): string => JSON.stringify([source, relation, target]);

/** Links of the drawing with the evidence that is known of them. */
function joined(own: readonly GraphLink[], texts: readonly GraphLink[]): readonly GraphLink[] {
  const known = new Map(texts.map((link) => [keyOf(link), link]));
  return own.map((link) => ({ ...known.get(keyOf(link)), ...link }));
}

const FIRST = 15;

interface LinkListProps {
  readonly node: GraphNode;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  onOpen(node: string): void;
  readonly onSource: OpenSource;
}

function Links({
  title,
  links,
  ...list
}: LinkListProps & { readonly title: string; readonly links: readonly GraphLink[] }) {
  const [shown, setShown] = useState(FIRST);
  if (links.length === 0) return null;
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {title} ({links.length})
      </Title>
      <List listStyleType="none" spacing={6} size="sm">
        {links.slice(0, shown).map((link) => (
          <List.Item key={keyOf(link)}>
            <Step link={link} to={link.source === list.node.id ? link.target : link.source} {...list} />
          </List.Item>
        ))}
      </List>
      {links.length > shown ? (
        <Button variant="subtle" size="compact-xs" onClick={() => setShown(shown + 100)}>
          Show more
        </Button>
      ) : null}
    </div>
  );
}

interface StepProps extends Omit<LinkListProps, 'node'> {
  readonly link: GraphLink;
  readonly to: string;
}

/** An edge: where it leads, when it was so, and the sentence that states it, which opens its document. */
function Step({ link, to, nodes, onOpen, onSource }: StepProps) {
  const { text, chunkId } = link.edge_info ?? {};
  // A mention is stated by the passage itself.
  const passage = chunkId ?? (link.relation === 'contains' ? link.source : undefined);
  return (
    <>
      <Text size="sm" span c="dimmed">
        {link.target === to ? '→' : '←'} {link.relation.replaceAll('_', ' ')}{' '}
      </Text>
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => onOpen(to)}>
        {nodes.get(to)?.name ?? to}
      </Anchor>
      {passage === undefined ? null : (
        <Text size="xs" c="dimmed" component="div">
          {text ? <q className="excerpt">{text}</q> : null}
          <Anchor
            component="button"
            type="button"
            size="xs"
            aria-label={text ? `Open the passage: ${text.slice(0, 60)}` : 'Open the passage'}
            onClick={() => onSource({ chunk: passage, ...(text ? { text } : {}) })}
          >
            Open the passage
          </Anchor>
        </Text>
      )}
    </>
  );
}

interface PathFinderProps extends LinkListProps {
  readonly dataset: string;
  readonly view: GraphView;
  find(text: string, limit: number): readonly GraphNode[];
  onPath(nodes: readonly string[]): void;
}

const MAX_HITS = 12;

/** How two nodes hang together: the shortest way along the edges. */
function PathFinder({ dataset, view, find, onPath, ...list }: PathFinderProps) {
  const { node, nodes } = list;
  const [text, setText] = useState('');
  const [target, setTarget] = useState<string | null>(null);
  const [path, setPath] = useState<readonly PathStep[] | null>(null);
  const hits = find(text, MAX_HITS).filter(({ id }) => id !== node.id);
  const evidence = usePathTexts(dataset, path === null ? null : [node.id, ...path.map(({ to }) => to)]);
  const nameOf = (id: string) => (nodes.get(id)?.name ?? id).slice(0, 60);
  const look = (id: string) => {
    const found = shortestPath(view, node.id, id);
    setTarget(id);
    setPath(found);
    onPath(found === null ? [] : [node.id, ...found.map(({ to }) => to)]);
  };
  return (
    <div>
      <Autocomplete
        size="xs"
        label={`Path from ${nameOf(node.id)} to`}
        placeholder="Another node"
        value={text}
        onChange={(value) => {
          setText(value);
          if (value !== '') return;
          setTarget(null);
          setPath(null);
          onPath([]);
        }}
        data={hits.map(({ id, name }) => ({ value: id, label: name }))}
        filter={({ options }) => options}
        onOptionSubmit={look}
        selectFirstOptionOnChange
        clearable
        comboboxProps={{ position: 'bottom-end' }}
      />
      {target === null ? null : path === null ? (
        <Text size="sm" mt={4}>
          Nothing connects them in what is shown.
        </Text>
      ) : (
        <List listStyleType="none" size="sm" mt={4} spacing={6} aria-label={`Path to ${nameOf(target)}`}>
          {joined(
            path.map(({ link }) => link),
            evidence.data ?? [],
          ).map((link, at) => (
            <List.Item key={keyOf(link)}>
              <Step link={link} to={path[at]?.to ?? ''} {...list} />
            </List.Item>
          ))}
        </List>
      )}
    </div>
  );
}
