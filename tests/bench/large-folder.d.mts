export function largeFolder(): string;
