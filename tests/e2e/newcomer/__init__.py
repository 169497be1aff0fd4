"""People in their first hour: those who come from another memory tool."""
