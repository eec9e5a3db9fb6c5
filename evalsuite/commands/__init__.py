"""One module per command: HELP, EXAMPLES, add_arguments(parser) and run(arguments: argparse.Namespace) -> exit code."""
