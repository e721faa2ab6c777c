import {
  Badge,
  type BadgeProps,
  Group,
  Pagination,
  Table,
  type TableProps,
  Text,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { ago, when } from './format.ts';

/** Head of a column, alone or with the properties of its cell; null leaves the column out. */
type Column =
  | string
  | null
  | {
      readonly head: string;
      readonly isHidden?: boolean;
      readonly ta?: 'right';
      readonly visibleFrom?: 'sm' | 'md';
      readonly w?: number;
    };

interface DataTableProps extends TableProps {
  readonly label: string;
  /** Narrower windows scroll sideways. */
  readonly minWidth: number;
  readonly columns: readonly Column[];
  readonly children: ReactNode;
}

export function DataTable({ label, minWidth, columns, children, ...look }: DataTableProps) {
  return (
    <Table.ScrollContainer minWidth={minWidth}>
      <Table aria-label={label} {...look}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => {
              if (column === null) return null;
              const { head, isHidden = false, ...cell } = typeof column === 'string' ? { head: column } : column;
              return (
                <Table.Th key={head} {...cell}>
                  {isHidden ? <VisuallyHidden>{head}</VisuallyHidden> : head}
                </Table.Th>
              );
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** A state in a word: the colour is in the frame alone, so that the text keeps its contrast. */
export function StateBadge(props: BadgeProps & { readonly children: ReactNode; readonly tabIndex?: number }) {
  return <Badge variant="outline" tt="none" c="var(--mantine-color-text)" {...props} />;
}

interface PagesProps {
  readonly total: number;
  readonly value: number;
  readonly onChange: (page: number) => void;
}

export function Pages(props: PagesProps) {
  if (props.total <= 1) return null;
  return (
    <Group justify="center" mt="sm">
      <Pagination {...props} getControlProps={(control) => ({ 'aria-label': `${control} page` })} />
    </Group>
  );
}

/** How long ago it was, with the exact time as a tooltip. */
export function Ago({ time }: { readonly time: string }) {
  return (
    <Tooltip label={when(time)}>
      <Text size="sm">{ago(time)}</Text>
    </Tooltip>
  );
}
