export interface Spread {
  median: number;
  low: number;
  high: number;
}
export function spread(values: number[]): Spread;

export interface Report {
  title: string;
  command: string;
  columns: string[];
  rows: string[][];
  notes?: string[];
}
export function reportOf(report: Report): string;
export function writeReport(name: string, report: Report): void;
export function rowsOf(text: string): Map<string, string[]>;
