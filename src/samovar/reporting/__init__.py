"""What people look at: pictures, tables, the HTML report, progress bars."""
