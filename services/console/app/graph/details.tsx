import { ActionIcon, Anchor, Autocomplete, Box, Button, Group, List, Stack, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import {
  type GraphLink,
  type GraphNode,
  type GraphView,
  groupOf,
  nodeFinder,
  shortestPath,
} from '../../pages/graph/view-model.ts';
import { IconFileText, IconTopologyStar3, IconX } from '../icons.ts';

interface Place {
  readonly item: string;
  readonly name: string;
  readonly passage: string;
}

interface DetailsProps {
  readonly node: GraphNode;
  readonly view: GraphView;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  onOpen(node: string): void;
  onClose(): void;
  onCentre(node: string): void;
  onDocument(place: Place): void;
}

/** What a node is, the facts that touch it with the sentences that state them, and what else it hangs together with. */
export function NodeDetails({ node, view, nodes, onOpen, onClose, onCentre, onDocument }: DetailsProps) {
  const links = view.links.filter(({ source, target }) => source === node.id || target === node.id);
  const place = placeOf(node, links, nodes);
  const lists = { node, nodes, onOpen };
  return (
    <Stack gap="xs" component="section" aria-label={`Details of ${node.name.slice(0, 80)}`}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Box miw={0}>
          <Text size="xs" c="dimmed">
            {groupOf(node)}
          </Text>
          <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
            {node.text?.startsWith(node.name.slice(0, 20)) ? groupOf(node) : node.name}
          </Title>
        </Box>
        <ActionIcon variant="subtle" color="gray" onClick={onClose} aria-label="Close the details">
          <IconX size={16} />
        </ActionIcon>
      </Group>
      {node.description ? <Text size="sm">{node.description}</Text> : null}
      {node.text ? (
        <Text size="sm" className="document" mah={220} style={{ overflow: 'auto' }} tabIndex={0}>
          {node.text}
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
        {place === null ? null : (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconFileText size={14} />}
            onClick={() => onDocument(place)}
          >
            Open in the document
          </Button>
        )}
      </Group>
      <PathFinder node={node} view={view} nodes={nodes} onOpen={onOpen} />
      <Links title="Facts" links={links.filter(({ edge_class }) => edge_class === 'semantic')} {...lists} />
      <Links title="Connected" links={links.filter(({ edge_class }) => edge_class !== 'semantic')} {...lists} />
    </Stack>
  );
}

/** A passage or a document can be opened where it stands. */
function placeOf(node: GraphNode, links: readonly GraphLink[], nodes: ReadonlyMap<string, GraphNode>): Place | null {
  if (node.type === 'TextDocument') return { item: node.id, name: node.name, passage: '' };
  if (node.type !== 'DocumentChunk') return null;
  for (const { source, target } of links) {
    const other = nodes.get(source === node.id ? target : source);
    if (other?.type === 'TextDocument') return { item: other.id, name: other.name, passage: node.text ?? '' };
  }
  return null;
}

const FIRST = 15;

interface LinksProps {
  readonly title: string;
  readonly links: readonly GraphLink[];
  readonly node: GraphNode;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  onOpen(node: string): void;
}

function Links({ title, links, node, nodes, onOpen }: LinksProps) {
  const [all, setAll] = useState(false);
  if (links.length === 0) return null;
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {title} ({links.length})
      </Title>
      <List listStyleType="none" spacing={6} size="sm">
        {(all ? links : links.slice(0, FIRST)).map((link, index) => {
          const isOut = link.source === node.id;
          const other = isOut ? link.target : link.source;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: edges have no ids, and two may say the same
            <List.Item key={`${index} ${other} ${link.relation}`}>
              <Text size="sm" span c="dimmed">
                {isOut ? '→' : '←'} {link.relation.replaceAll('_', ' ')}{' '}
              </Text>
              <Anchor component="button" type="button" size="sm" ta="left" onClick={() => onOpen(other)}>
                {(nodes.get(other)?.name ?? other).slice(0, 90)}
              </Anchor>
              {link.edge_info?.text ? (
                <Text size="xs" c="dimmed" component="q" display="block">
                  {link.edge_info.text}
                </Text>
              ) : null}
            </List.Item>
          );
        })}
      </List>
      {links.length > FIRST ? (
        <Button variant="subtle" size="compact-xs" onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${links.length}`}
        </Button>
      ) : null}
    </div>
  );
}

interface PathFinderProps {
  readonly node: GraphNode;
  readonly view: GraphView;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  onOpen(node: string): void;
}

const MAX_HITS = 12;

/** How two nodes hang together: the shortest way along the edges. */
function PathFinder({ node, view, nodes, onOpen }: PathFinderProps) {
  const [text, setText] = useState('');
  const [target, setTarget] = useState<string | null>(null);
  const find = useMemo(() => nodeFinder(view.nodes), [view]);
  const hits = find(text, MAX_HITS).filter(({ id }) => id !== node.id);
  const path = useMemo(() => (target === null ? null : shortestPath(view, node.id, target)), [view, node.id, target]);
  const nameOf = (id: string) => (nodes.get(id)?.name ?? id).slice(0, 60);
  return (
    <div>
      <Autocomplete
        size="xs"
        label={`Path from ${nameOf(node.id)} to`}
        placeholder="Another node"
        value={text}
        onChange={setText}
        data={hits.map(({ id, name }) => ({ value: id, label: name.slice(0, 80) }))}
        filter={({ options }) => options}
        onOptionSubmit={setTarget}
        selectFirstOptionOnChange
        comboboxProps={{ position: 'bottom-end' }}
      />
      {target === null ? null : path === null ? (
        <Text size="sm" mt={4}>
          Nothing connects them in what is shown.
        </Text>
      ) : (
        <List listStyleType="none" size="sm" mt={4} aria-label={`Path to ${nameOf(target)}`}>
          {path.map(({ link, to }) => (
            <List.Item key={to}>
              <Text size="sm" span c="dimmed">
                {link.target === to ? '→' : '←'} {link.relation.replaceAll('_', ' ')}{' '}
              </Text>
              <Anchor component="button" type="button" size="sm" ta="left" onClick={() => onOpen(to)}>
                {nameOf(to)}
              </Anchor>
            </List.Item>
          ))}
        </List>
      )}
    </div>
  );
}
