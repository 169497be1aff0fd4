"""Export and import: `import_` reads what `export` writes, or another tool's (`importers`)."""
